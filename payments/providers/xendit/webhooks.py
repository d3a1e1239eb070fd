"""Webhooks of Xendit. Its token proves little, so that nothing is believed but that something happened."""

import hmac
import re
from collections.abc import Mapping
from decimal import Decimal

from payments.money import minor_units
from payments.providers.base import BadSignature, Unknown, WebhookEvent
from payments.providers.disputes import DisputeNews
from payments.providers.xendit.client import read
from payments.providers.xendit.disputes import lookup
from payments.providers.xendit.fields import Body, text

TOKEN_HEADER = "x-callback-token"  # nosec B105 # the name of a header
_KIND = re.compile(r"(payment|payment_request|refund|payout|dispute)\.[a-z_]+")
# What says nothing of a payment's money: of cards that are kept.
_NO_NEWS = re.compile(r"payment_token\.[a-z_]+")
# What names a payment, in any message: by our name, and by Xendit's.
NAMED_BY = (("reference_id", "external_id"), ("payment_request_id", "payment_id", "id"))
# The names of what an event is about, and of its amount.
NAMES = {
    "payment": ("payment_id", "request_amount"),
    "payment_request": ("payment_request_id", "request_amount"),
    "refund": ("id", "amount"),
    "payout": ("id", "amount"),
}


def read_webhook(callback_token: str, headers: Mapping[str, str], body: bytes) -> list[WebhookEvent]:
    """Return the event in a message; none where it names nothing. Raise BadSignature or ValueError."""
    token = {name.lower(): value for name, value in headers.items()}.get(TOKEN_HEADER, "")
    if not callback_token or not hmac.compare_digest(token.encode(), callback_token.encode()):
        raise BadSignature
    message = read(body)
    event, data = text(message, "event"), _innermost(message)
    kind = _KIND.fullmatch(event)
    if kind and kind[1] == "dispute" and text(data or message, "id"):
        return [_news(event, data or message)]
    if kind and kind[1] != "dispute" and _is_about_something(kind[1], data):
        return [_event(event, kind[1], data)]
    return _unnamed(event, data or message)


def _unnamed(event: str, data: Body) -> list[WebhookEvent]:
    """Return an event that no table names: where it is about something of ours, operators must look."""
    ours, theirs = ([text(data, name) for name in names if text(data, name)] for names in NAMED_BY)
    if _NO_NEWS.fullmatch(event) or not (ours or theirs):
        return []
    names, outcome = [*ours, *theirs], Unknown(f"Xendit reports {event or 'a message'}, which kaha does not know.")
    key = ":".join([event, *names, text(data, "status"), text(data, "updated") or text(data, "updated_at")])
    payment = theirs[0] if theirs else ""
    return [WebhookEvent(names[0], outcome, key, provider_ref=theirs[-1] if theirs else "", payment=payment)]


def _news(event: str, dispute: Body) -> WebhookEvent:
    """Return the event that there is news of a dispute."""
    ref = text(dispute, "id")
    states = ":".join(text(dispute, name) for name in ("status", "status_reason", "updated_at"))
    reference = text(dispute, "reference_id") or ref
    news = DisputeNews(ref, lookup.claimed(dispute))
    return WebhookEvent(reference, None, f"{event}:{ref}:{states}", provider_ref=ref, dispute=news)


def _innermost(message: Body) -> Body:
    """Return the object of a message; a refund's may be nested one level deeper."""
    data = message.get("data")
    inner = data.get("data") if isinstance(data, dict) else None
    found = inner if isinstance(inner, dict) else data
    return found if isinstance(found, dict) else {}


def _is_about_something(kind: str, data: Body) -> bool:
    """Whether we may have to do with it: a refund made by hand has no name of ours, and its payment may have one."""
    return bool(text(data, "reference_id") or (kind == "refund" and text(data, "payment_request_id")))


def _event(event: str, kind: str, data: Body) -> WebhookEvent:
    id_name, amount_name = NAMES[kind]
    currency, amount = text(data, "currency"), data.get(amount_name)
    return WebhookEvent(
        text(data, "reference_id") or text(data, id_name),
        outcome=None,
        key=f"{event}:{text(data, id_name)}:{text(data, 'status')}",
        amount=minor_units(amount, currency) if isinstance(amount, Decimal) else None,
        currency=currency,
        provider_ref=text(data, "id" if id_name == "id" else "payment_request_id"),
        payment=text(data, "payment_request_id") if kind == "refund" else "",
    )
