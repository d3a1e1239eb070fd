"""Payments that no fake needs to know of."""

from dataclasses import replace
from typing import Any

from payments import ids
from payments.providers.base import Payment
from tests.providers.bench import AMOUNT, CARD, RETURN_URL


def asked(source_type: str = "card", **members: Any) -> Payment:
    """A payment of PHP 100.00, to be taken at once and without authentication."""
    payment = Payment(
        reference=ids.new_id().hex,
        amount=AMOUNT,
        currency="PHP",
        source_type=source_type,
        capture=True,
        authenticate=False,
        return_url=RETURN_URL,
        description="Halo-halo",
        statement_descriptor="SARI STORE",
        card=CARD if source_type == "card" else None,
    )
    return replace(payment, **members)
