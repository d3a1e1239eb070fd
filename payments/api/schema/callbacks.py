"""The webhooks of the OpenAPI document: the calls of endpoints and of `redirect.notify` by type of event."""

from typing import Any

from payments.api.schema import examples
from payments.domain.catalogue.event_types import EVENT_TYPES, EventType
from payments.rendering.objects.member import id_form
from payments.webhooks.retry_schedule import TRIED_FOR
from payments.webhooks.transport.client import Limits

Described = dict[str, Any]

DESCRIPTION = """
The call of each webhook endpoint that lists the type, with an event{notify}. Verify the signature over the received
bytes before anything else. An event may come more than once and out of order: `id` is the same on every try, and
`sequence` says which event of an object is newer.

A call that is not answered 2xx within {seconds:.0f} seconds is tried again for {days} days.
"""
NOTIFY = ", and of the `redirect.notify` of the charge's source"
ANSWERS: Described = {
    "2XX": {"description": "The event is received and is not sent again. The body is not read beyond 64 KiB."},
    "410": {"description": "This event is not sent again."},
    "default": {
        "description": "The event is sent again after any other answer, redirects included.",
        "headers": {"Retry-After": {"$ref": "#/components/headers/Retry-After"}},
    },
}


def webhooks(prefix: str) -> Described:
    """Return the webhooks by type; `prefix` begins the names of the plain signature headers."""
    return {name: {"post": _call(name, event_type, prefix)} for name, event_type in EVENT_TYPES.items()}


def example_of(name: str) -> Described:
    """Return the example of an event of this type."""
    return examples.EVENT | {"type": name, "data": {"object": EVENT_TYPES[name].example}}


def _call(name: str, event_type: EventType, prefix: str) -> Described:
    return {
        "operationId": f"on_{name.replace('.', '_')}",
        "summary": event_type.meaning,
        "description": _description(name, event_type),
        "tags": ["Callbacks"],
        "security": [],
        "parameters": _headers(prefix),
        "requestBody": {"required": True, "content": {"application/json": _body(name, event_type)}},
        "responses": ANSWERS,
        "x-kaha-trigger": event_type.trigger.split(),
    }


def _description(name: str, event_type: EventType) -> str:
    notify = NOTIFY if event_type.is_notified and name.startswith(("charge.", "refund.")) else ""
    return DESCRIPTION.strip().format(notify=notify, seconds=Limits().total_seconds, days=TRIED_FOR.days)


def _body(name: str, event_type: EventType) -> Described:
    kind = f"#/components/schemas/{event_type.about.shown.name}"
    narrowed = {"type": {"const": name}, "data": {"properties": {"object": {"$ref": kind}}}}
    return {
        "schema": {"allOf": [{"$ref": "#/components/schemas/Event"}, {"properties": narrowed}]},
        "examples": {"Event": {"value": example_of(name)}},
    }


def _headers(prefix: str) -> list[Described]:
    seconds = {"type": "string", "pattern": "^[0-9]+$"}
    return [
        _header("webhook-id", id_form("evt"), "The event's ID."),
        _header("webhook-timestamp", seconds, "When this try was sent, in seconds since 1970."),
        _header(
            "webhook-signature",
            {"type": "string", "pattern": "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$"},
            "Signatures of Standard Webhooks, made with the endpoint's `whsec_…`, for `redirect.notify` with that of "
            "the mode; several while the secret is rolled.",
        ),
        _header(f"{prefix}-Timestamp", seconds, "The same time."),
        _header(
            f"{prefix}-Signature",
            {"type": "string", "pattern": "^v1=[0-9a-f]{64}$"},
            "HMAC-SHA256 of the body, in hex; its key is the whole text of the secret, `whsec_` included; while one is "
            "rolled, of the old one.",
        ),
    ]


def _header(name: str, form: Described, text: str) -> Described:
    return {"name": name, "in": "header", "required": True, "description": text, "schema": form}
