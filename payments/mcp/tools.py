"""What a tool is, and how it asks the API as the key's merchant."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.core.handlers.wsgi import WSGIRequest
from django.urls import resolve
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from payments.api.access.authentication import NAMED_KEY
from payments.api.views.base import HAS_PLACE
from payments.json_codecs.verbatim_json import loads
from payments.models import ApiKey, Merchant

Arguments = Mapping[str, Any]
NOTHING_REFUSED = 400


class Own(str):
    """A text of ours, which needs no mark."""

    __slots__ = ()


def own(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result of which every text is ours."""
    return {name: Own(value) if isinstance(value, str) else value for name, value in result.items()}


class Refusal(Exception):
    """Why a tool did nothing: a code of the API's errors, and a message for the assistant."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Asked:
    """The request of a call, the key that signed it, and the client's name."""

    request: Request
    key: ApiKey
    client: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the JSON Schema of its arguments, what it does, and the `right` that a key needs to read by it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[[Asked, Arguments], Any]
    right: str = ""
    moves_money: bool = False


class OfAssistant(BaseAuthentication):
    """Takes the key that signed the request to `/mcp`."""

    def authenticate(self, request: Request) -> tuple[Merchant, ApiKey]:
        key: ApiKey = request.META[NAMED_KEY]
        return key.merchant, key


def read(asked: Asked, path: str, query: Arguments | None = None) -> Any:
    """Return what a GET of the API answers to the key, by the same view. Raise Refusal."""
    found = resolve(path)
    view: Any = found.func
    # It counts against the key's rate as a request of its own: one call may read many objects.
    answering = view.cls.as_view(view.actions, authentication_classes=(OfAssistant,))
    response = answering(_request(asked, path, query or {}), **found.kwargs)
    body = loads(response.content.decode())
    if response.status_code >= NOTHING_REFUSED:
        raise Refusal(body["error"]["code"], body["error"]["message"])
    return body


def _request(asked: Asked, path: str, query: Arguments) -> WSGIRequest:
    text = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in query.items()}
    sent = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "QUERY_STRING": urlencode(text),
        "CONTENT_LENGTH": "",
        "wsgi.input": BytesIO(),
        HAS_PLACE: True,
    }
    return WSGIRequest(asked.request.META | sent)
