"""The webhooks of the OpenAPI document: the calls of endpoints and of `redirect.notify` by type of event."""

from typing import Any

from payments.api.schema import examples
from payments.domain.shared.events import EVENT_TYPES
from payments.rendering.objects.charges import CHARGE, REFUND
from payments.rendering.objects.checkout import SESSION
from payments.rendering.objects.disputes import DISPUTE
from payments.rendering.objects.events import EVENT_OBJECTS, ORGANIZATION
from payments.rendering.objects.member import id_form
from payments.rendering.objects.payment_links import PAYMENT_LINK
from payments.rendering.objects.payment_requests import PAID as PAID_REQUEST
from payments.rendering.objects.payment_requests import REQUEST
from payments.rendering.objects.payouts import PAYOUT, PAYOUT_ACCOUNT
from payments.rendering.objects.sources import SOURCE
from payments.webhooks.retry_schedule import TRIED_FOR
from payments.webhooks.transport.client import Limits

Described = dict[str, Any]

MOMENTS = ("sent_at", "paid_at")


def _payout(status: str, *moments: str) -> Described:
    """Return the example of a payout with this status, of whose moments these have come."""
    kept = {name: value for name, value in PAYOUT.example.items() if name not in MOMENTS or name in moments}
    return kept | {"status": status}


KEPT = SOURCE.example | {"used": True, "vaulted": True}
# By type of event: an example of its object; customers add their own.
CALLBACKS: dict[str, Described] = {
    "charge.created": examples.HELD | {"authorized": False, "status": "pending"},
    "charge.updated": examples.VOIDED,
    "charge.succeeded": examples.HELD,
    "charge.failed": examples.DECLINED,
    "charge.captured": examples.CAPTURED,
    "charge.disputed": examples.CAPTURED | {"disputed": True},
    "refund.created": REFUND.example | {"status": "pending"},
    "refund.updated": REFUND.example,
    "dispute.created": DISPUTE.example,
    "dispute.updated": DISPUTE.example | {"status": "under_review"},
    "dispute.closed": DISPUTE.example | {"status": "won", "withdrawn": False, "amount_withdrawn": 0, "fee": 0},
    "payout.created": _payout("pending"),
    "payout.updated": _payout("in_transit", "sent_at"),
    "payout.paid": PAYOUT.example,
    "payout.failed": _payout("failed", "sent_at", "paid_at") | {"failure_code": "returned"},
    "payout.cancelled": _payout("cancelled"),
    "payout_account.created": PAYOUT_ACCOUNT.example,
    "payout_account.updated": PAYOUT_ACCOUNT.example | {"withdrawn_at": "2026-11-21T09:30:00.000000Z"},
    "checkout_session.created": SESSION.example,
    "checkout_session.completed": SESSION.example | {"payment_status": "paid", "payment_details": CHARGE.example},
    "checkout_session.expired": SESSION.example | {"payment_status": "expired"},
    "payment_request.created": REQUEST.example,
    "payment_request.updated": REQUEST.example | {"delivered": {"email": True, "sms": False}},
    "payment_request.succeeded": PAID_REQUEST,
    "payment_request.failed": REQUEST.example,
    "payment_link.created": PAYMENT_LINK.example,
    "payment_link.updated": PAYMENT_LINK.example | {"active": False},
    "organization.updated": ORGANIZATION.example,
    "source.created": SOURCE.example,
    "source.updated": KEPT,
    "source.deleted": KEPT | {"vaulted": False},
    "source.expiring": KEPT,
}
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
    return {name: {"post": _call(name, EVENT_TYPES[name].meaning, shown, prefix)} for name, shown in CALLBACKS.items()}


def _call(name: str, meaning: str, shown: Described, prefix: str) -> Described:
    return {
        "operationId": f"on_{name.replace('.', '_')}",
        "summary": meaning,
        "description": _description(name),
        "tags": ["Callbacks"],
        "security": [],
        "parameters": _headers(prefix),
        "requestBody": {"required": True, "content": {"application/json": _body(name, shown)}},
        "responses": ANSWERS,
    }


def _description(name: str) -> str:
    notify = NOTIFY if EVENT_TYPES[name].notified and name.startswith(("charge.", "refund.")) else ""
    return DESCRIPTION.strip().format(notify=notify, seconds=Limits().total_seconds, days=TRIED_FOR.days)


def _body(name: str, shown: Described) -> Described:
    kind = f"#/components/schemas/{EVENT_OBJECTS[shown['object']].name}"
    narrowed = {"type": {"const": name}, "data": {"properties": {"object": {"$ref": kind}}}}
    return {
        "schema": {"allOf": [{"$ref": "#/components/schemas/Event"}, {"properties": narrowed}]},
        "examples": {"Event": {"value": examples.EVENT | {"type": name, "data": {"object": shown}}}},
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
