"""Shared by middleware: which requests are the API's, and a base class for middleware of pages."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from payments.web.requests import is_api_path

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def is_api(request: HttpRequest) -> bool:
    """Return whether the request is for the API, which answers in JSON and has no sessions."""
    return is_api_path(request.path_info)


class PagesOnly(MiddlewareMixin):
    """A mixin that skips a middleware for the API."""

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if is_api(request) else super().__call__(request)
