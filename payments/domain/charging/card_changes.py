"""What the outcome of a payment means for its card."""

from datetime import datetime, timedelta
from typing import Any

from payments.domain.charging.changes import Changes, RowUpdate
from payments.models import Card, Charge
from payments.providers.base import Approved, Declined
from payments.providers.retry import Retry

# How long a kept card is not charged after its issuer said that it never approves it.
REFUSED_FOR = timedelta(days=30)


def approved(charge: Charge, outcome: Approved) -> Changes:
    """Return the update of an approved payment's card: its number stays where it is kept for a customer."""
    return _card_data_destroyed(charge, outcome.cvc_checked, not charge.single_use or charge.customer_id is not None)


def failed(charge: Charge, declined: Declined, retry: str, now: datetime) -> Changes:
    """Return the update of a failed payment's card: a kept one is not charged for a while where `retry` is `never`."""
    is_final = retry == Retry.NEVER and not charge.single_use
    refused = {"refused_until": now + REFUSED_FOR} if is_final else {}
    return _card_data_destroyed(charge, declined.cvc_checked, not charge.single_use, **refused)


def _card_data_destroyed(charge: Charge, cvc_checked: str, is_kept: bool, **others: Any) -> Changes:
    """Return the update that destroys the CVC, and the number unless it is kept, and sets other columns."""
    card: Card | None = getattr(charge.source, "card", None)
    if card is None:
        return ()
    values = {"sealed_cvc": None, "cvc_expires_at": None, "cvc_checked": cvc_checked, **others}
    if not is_kept:
        values |= {"sealed_number": None, "number_expires_at": None}
    return (RowUpdate(card, {"id": card.id, "merchant_id": card.merchant_id}, values),)
