"""What middlewares share: which requests are the API's, and a base for those of pages."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from payments.web.requests import is_api_path

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def is_api(request: HttpRequest) -> bool:
    """Return whether a program asks, which is answered in JSON and has no session."""
    return is_api_path(request.path_info)


class PagesOnly(MiddlewareMixin):
    """Leave out a middleware for the API, which does not need it."""

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if is_api(request) else super().__call__(request)
