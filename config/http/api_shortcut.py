"""The way of the API's requests, past all middleware of pages."""

import re
from typing import Any, cast

from corsheaders.middleware import CorsMiddleware
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.cache import patch_vary_headers

from payments.api.access.authentication import STRANGE_ORIGIN
from payments.api.responses.error_forms import put_in_form
from payments.api.responses.rendering import put_headers
from payments.web.environ import GetResponse, is_api
from payments.web.hosts import HostAndHttps, SiteHosts

_answering: list[GetResponse] = []


class ApiShortcut:
    """Leads requests of the API to their view, past all middleware that is listed after this.

    Only those for paths that browsers may use pass the one for other origins. Every answer has the headers that
    Django's middleware would give it.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._view = _answering[0]
        self._across_origins: Any = CorsMiddleware(self._view)
        self._is_for_browsers = re.compile(settings.CORS_URLS_REGEX).match
        self._api = HostAndHttps(cast(GetResponse, convert_exception_to_response(SiteHosts(self._answer))))
        self._headers = {is_secure: _headers(is_secure) for is_secure in (False, True)}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not is_api(request):
            return self.get_response(request)
        response = self._api(request)
        put_in_form(request.path_info, response)
        put_headers(response, self._headers[request.is_secure()])
        return response

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        if not self._is_for_browsers(request.path_info):
            return self._view(request)
        if "HTTP_ORIGIN" in request.META or request.method == "OPTIONS":
            return _kept_from_strangers(request, self._across_origins(request))
        response = self._view(request)
        # All that the middleware would do here, after it has read every header.
        patch_vary_headers(response, ["origin"])
        return response


class _Example(HttpRequest):
    """A request by https or http."""

    def __init__(self, is_secure: bool) -> None:
        super().__init__()
        self._is_secure = is_secure

    def is_secure(self) -> bool:
        return self._is_secure


def _kept_from_strangers(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return an answer that a page cannot read where its origin is not one of its key's."""
    if STRANGE_ORIGIN in request.META:
        for name in ("Access-Control-Allow-Origin", "Access-Control-Expose-Headers"):
            del response.headers[name]
    return response


def _headers(is_secure: bool) -> list[tuple[str, str]]:
    """Return the headers that Django's middleware gives to each answer."""
    request, response = _Example(is_secure), HttpResponse()
    del response["Content-Type"]
    for middleware in (XFrameOptionsMiddleware, SecurityMiddleware):
        middleware(lambda _: response).process_response(request, response)
    return list(response.items())


def end_of_middleware(get_response: GetResponse) -> GetResponse:
    """Keep what the last middleware is given, the handler that calls the view and answers its exceptions.

    Django makes the last middleware first, and leaves out one that raises this.
    """
    _answering[:] = [get_response]
    raise MiddlewareNotUsed
