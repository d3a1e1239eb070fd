"""Webhooks of Adyen: each item of a message is verified by itself, then read.

Of an item the signature covers the references, amount, event and success, and nothing of its additional data.
"""

import hmac
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from payments.json_codecs import bounded_json
from payments.providers.adyen import bodies, disputes
from payments.providers.adyen.answers import ADVICE, card_facts, cvc_checked, facts
from payments.providers.adyen.channels import CARD, METHODS
from payments.providers.adyen.declines import declined_by_words
from payments.providers.base import Approved, BadSignature, Declined, Outcome, Unknown, WebhookEvent
from payments.providers.failures.retry import advised, hours_advised

Item = dict[str, Any]

# Methods that are always taken at once, as webhooks name them; a card's names its brand.
NEVER_HELD = frozenset(METHODS.values()) - {CARD}


def read(body: bytes, hmac_key: str, merchant_account: str) -> list[WebhookEvent]:
    """Return the events in a message about this account.

    Raises BadSignature unless Adyen signed every item, ValueError where one cannot be understood.
    """
    items = _items(body)
    if not items or not all(_is_signed(item, hmac_key) for item in items):
        raise BadSignature
    try:
        ours = [item for item in items if item["merchantAccountCode"] == merchant_account]
        return [event for item in ours if (event := _event(item))]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"an item is not as Adyen describes it: {error}") from None


def _items(body: bytes) -> list[Item]:
    try:
        return [wrapper["NotificationRequestItem"] for wrapper in bounded_json.loads(body)["notificationItems"]]
    except (ValueError, KeyError, TypeError):
        raise BadSignature from None


def _is_signed(item: Item, hmac_key: str) -> bool:
    # The package takes a quarter of a second to load, and most processes need it never.
    from Adyen.util import generate_notification_sig

    try:
        signature = item["additionalData"]["hmacSignature"].encode()
        return hmac.compare_digest(signature, generate_notification_sig(item, hmac_key))
    except (KeyError, TypeError, AttributeError, ValueError):
        return False


def _event(item: Item) -> WebhookEvent | None:
    code = item["eventCode"]
    return None if code in NO_NEWS else EVENTS.get(code, _unnamed)(item)


def _unnamed(item: Item) -> WebhookEvent:
    """Report an event that no table names: where it is about something of ours, operators must look."""
    *_, payment = str(item.get("merchantReference") or "").rpartition("-")
    original = str(item.get("originalReference") or item["pspReference"])
    outcome = Unknown(f"Adyen reports {item['eventCode']}, which kaha does not know.")
    return WebhookEvent(item["pspReference"], outcome, _key(item), provider_ref=original, payment=payment)


def _of_payment(outcome: Callable[[Item], Outcome | None]) -> Callable[[Item], WebhookEvent | None]:
    """How an event is read that is about a payment and its whole amount."""

    def event(item: Item) -> WebhookEvent | None:
        reported = outcome(item)
        return WebhookEvent(item["merchantReference"], reported, _key(item), **_amount(item)) if reported else None

    return event


def _of(kind: str, outcome: Callable[[Item], Outcome]) -> Callable[[Item], WebhookEvent | None]:
    """How an event is read that is about one of our operations of this kind."""

    def event(item: Item) -> WebhookEvent | None:
        # What a release gives back is all there is, whatever amount it was asked for.
        amount = {} if kind == bodies.RELEASED else _amount(item)
        return WebhookEvent(outcome=outcome(item), key=_key(item), **_names(item, kind), **amount)

    return event


def _names(item: Item, kind: str) -> dict[str, Any]:
    """Our reference of the operation.

    What somebody did by hand in Adyen's back office has its payment's name, and must not pass for the payment: it is
    reported under the provider's own name, of which we know nothing.
    """
    prefix, _, reference = item["merchantReference"].rpartition("-")
    return {"reference": reference} if prefix == kind else {"reference": item["pspReference"], "payment": reference}


def _key(item: Item) -> str:
    return f"{item['pspReference']}:{item['eventCode']}:{item['success']}"


def _amount(item: Item) -> dict[str, Any]:
    return {"amount": item["amount"]["value"], "currency": item["amount"]["currency"]}


def _succeeded(item: Item) -> bool:
    return str(item["success"]).lower() == "true"


def _authorised(item: Item) -> Outcome:
    additional = item.get("additionalData") or {}
    if not _succeeded(item):
        words, advice = item.get("reason") or "", advised(additional.get(ADVICE))
        refused = declined_by_words(words, item["pspReference"], cvc_checked(additional), advice)
        return replace(refused, card=card_facts(additional), retry_after_hours=hours_advised(additional.get(ADVICE)))
    # Adyen describes it in a member of its own, and its examples have it like this.
    metadata = additional.get("metadata") or {bodies.CAPTURE: additional.get(f"metadata.{bodies.CAPTURE}")}
    capture = metadata.get(bodies.CAPTURE)
    if capture not in (bodies.AT_ONCE, bodies.LATER) and item.get("paymentMethod") not in NEVER_HELD:
        raise ValueError("the item does not say whether the money is held")
    shown, reference = facts(additional) or None, str(additional.get(bodies.NETWORK_REFERENCE) or "")
    checked, card = cvc_checked(additional), card_facts(additional)
    return Approved(item["pspReference"], capture != bodies.LATER, checked, shown, reference, card)


def _ran_out(item: Item) -> WebhookEvent:
    """Report an expiry of the rest, without an amount: after a partial capture it is less than was authorised."""
    outcome = Declined("action_expired", item["pspReference"], item["eventCode"])
    return WebhookEvent(item["merchantReference"], outcome, _key(item), currency=item["amount"]["currency"])


def _cancelled(item: Item) -> Outcome | None:
    """Return the outcome of a cancellation; None for a refusal: it was captured, or never existed."""
    original = item.get("originalReference") or ""
    return Declined("processing_error", original, item["eventCode"]) if _succeeded(item) else None


def _captured(item: Item) -> WebhookEvent | None:
    """Report a capture; None where it has the payment's name, for an automatic capture is no news."""
    is_asked_for = item["merchantReference"].startswith(bodies.name(bodies.TAKEN, ""))
    return _of(bodies.TAKEN, _modified)(item) if is_asked_for or not _succeeded(item) else None


def _modified(item: Item) -> Outcome:
    return Approved(item["pspReference"]) if _succeeded(item) else _failed(item)


def _failed(item: Item) -> Outcome:
    return Declined("processing_error", item["pspReference"], item["eventCode"], item.get("reason") or "")


# What says nothing of a payment's money: of cards that are kept, reports, and orders that we do not make.
NO_NEWS = frozenset({"RECURRING_CONTRACT", "REPORT_AVAILABLE", "ORDER_OPENED", "ORDER_CLOSED"})
EVENTS: dict[str, Callable[[Item], WebhookEvent | None]] = {
    "AUTHORISATION": _of_payment(_authorised),
    "OFFER_CLOSED": _ran_out,
    "EXPIRE": _ran_out,
    "TECHNICAL_CANCEL": _of_payment(_cancelled),
    "CAPTURE": _captured,
    "CAPTURE_FAILED": _of(bodies.TAKEN, _failed),
    "CANCELLATION": _of(bodies.RELEASED, _modified),
    "CANCEL_OR_REFUND": _of(bodies.RELEASED, _modified),
    "REFUND": _of(bodies.RETURNED, _modified),
    "REFUND_FAILED": _of(bodies.RETURNED, _failed),
    "REFUNDED_REVERSED": _of(bodies.RETURNED, _failed),
    **dict.fromkeys(disputes.STAGES, disputes.read(_key)),
}
