"""Answers as JSON, whatever the request's Accept header says."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpResponse
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from payments.rendering.wire import to_bytes

MEDIA_TYPE = "application/json"
KEPT_BY_NOBODY = {"Cache-Control": "no-store"}


def json_response(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """An answer whose `body` is bytes of JSON already, or anything that JSON can express, to be kept in no cache."""
    content = body if isinstance(body, bytes) else to_bytes(body)
    return HttpResponse(content, status=status, content_type=MEDIA_TYPE, headers=KEPT_BY_NOBODY | dict(headers or {}))


class JsonRenderer(BaseRenderer):
    """Renders what a view returns in DRF's own Response."""

    media_type = MEDIA_TYPE
    format = "json"
    charset = None

    def render(self, data: Any, *_: Any, **__: Any) -> bytes:
        return b"" if data is None else to_bytes(data)


class AlwaysFirst(DefaultContentNegotiation):
    """Answers in the one format there is, even for a client that sends `Accept: text/html`."""

    def select_renderer(
        self, _request: Request, renderers: Iterable[BaseRenderer], _format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type
