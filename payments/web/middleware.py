"""Shared by middleware: which requests are the API's."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from payments.web.environ import is_api_path

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def is_api(request: HttpRequest) -> bool:
    """Return whether the request is for the API, which answers in JSON and has no sessions."""
    return is_api_path(request.path_info)
