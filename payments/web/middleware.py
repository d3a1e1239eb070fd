"""Shared by middleware: which requests are the API's, and the middleware that they pass by."""

from collections.abc import Callable
from typing import Any, cast

from django.http import HttpRequest, HttpResponseBase

from payments.web.environ import is_api_path

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def is_api(request: HttpRequest) -> bool:
    """Return whether the request is for the API, which answers in JSON and has no sessions."""
    return is_api_path(request.path_info)


class ApiShortcut:
    """Leads requests of the API straight to their view, past all middleware that is listed after this."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._view = _end_of(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._view(request) if is_api(request) else self.get_response(request)


def _end_of(chain: Any) -> GetResponse:
    """Return the end of a chain of middleware: the handler that calls the view and answers its exceptions.

    Django wraps each middleware in a function, and a middleware has the rest of the chain as its `get_response`.
    """
    while rest := getattr(chain.__wrapped__, "get_response", None):
        chain = rest
    return cast(GetResponse, chain)
