"""Changes of a checkout, each with the event that shows it, so that its events are numbered without a gap."""

from typing import Any

from payments import clock
from payments.db.writes import Update, Write
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.models import Checkout, PaymentRequest


def change(caller: Caller, checkout: Checkout, event: str | None, **values: Any) -> list[Write]:
    """Return the writes that change a checkout, with the event that shows it, if there is one.

    They match its row as long as it is in the state, and at the attempt, in which it was read; in memory it changes at
    once.
    """
    unchanged = {
        "id": checkout.id,
        "merchant_id": checkout.merchant_id,
        "state": checkout.state,
        "attempts": checkout.attempts,
        "version": checkout.version,
    }
    values |= {"updated_at": clock.now(), "version": checkout.version + (event is not None)}
    vars(checkout).update(values)
    shown = events.of(caller, event, checkout) if event else []
    return [Update(Checkout, unchanged, values), *shown]


def change_request(checkout: Checkout, **values: Any) -> Update:
    """Return the write that changes what a request has beside its checkout; in memory it changes at once."""
    vars(checkout.request).update(values)
    return Update(PaymentRequest, {"checkout_id": checkout.id, "merchant_id": checkout.merchant_id}, values)
