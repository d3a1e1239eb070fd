"""Answers as JSON, for any Accept header."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from payments.json_codecs.verbatim_json import to_bytes

MEDIA_TYPE = "application/json"
NO_STORE = [("Cache-Control", "no-store")]


class JsonResponse(HttpResponse):
    """An answer of the API as JSON; its headers go out as they were set, without a look-up of each by its name."""

    def items(self) -> Any:
        return self.headers._store.values()


def put_headers(response: HttpResponseBase, headers: Iterable[tuple[str, str]]) -> None:
    """Set headers whose names and texts are ours: Django looks through each for line ends, by three calls."""
    store = response.headers._store
    for name, text in headers:
        store[name.lower()] = name, text


def json_response(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Return an answer that no cache keeps; `body` is JSON bytes, or a value to render as JSON."""
    content = body if isinstance(body, bytes) else to_bytes(body)
    response = JsonResponse(content, MEDIA_TYPE, status)
    put_headers(response, NO_STORE)
    if headers:
        put_headers(response, headers.items())
    return response


def prefers_json(request: HttpRequest) -> bool:
    """Return whether the client is a program, which does not ask for a page before all else."""
    return request.get_preferred_type([MEDIA_TYPE, "text/html"]) != "text/html"


class JsonRenderer(BaseRenderer):
    """The JSON of a view that returns DRF's own Response."""

    media_type = MEDIA_TYPE
    format = "json"
    charset = None

    def render(self, data: Any, *_: Any, **__: Any) -> bytes:
        return b"" if data is None else to_bytes(data)


class JsonNegotiation(DefaultContentNegotiation):
    """Content negotiation that always picks JSON, even for `Accept: text/html`."""

    def select_renderer(
        self, _request: Request, renderers: Iterable[BaseRenderer], _format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type
