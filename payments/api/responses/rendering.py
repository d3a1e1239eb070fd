"""Answers as JSON, for any Accept header."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from payments.json_codecs.verbatim_json import to_bytes

MEDIA_TYPE = "application/json"
NO_STORE = {"Cache-Control": "no-store"}


def json_response(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Return an answer that no cache keeps; `body` is JSON bytes, or a value to render as JSON."""
    content = body if isinstance(body, bytes) else to_bytes(body)
    return HttpResponse(content, status=status, content_type=MEDIA_TYPE, headers=NO_STORE | dict(headers or {}))


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
