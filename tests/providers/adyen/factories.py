"""Payments that no fake needs to know of."""

from types import SimpleNamespace
from typing import Any

from payments.providers.base import Payment
from tests.providers import bench

NOBODY = SimpleNamespace(card=lambda: bench.CARD)


def asked(source_type: str = "card", **members: Any) -> Payment:
    """Return a payment of PHP 100.00, to be taken at once and without authentication."""
    card = bench.CARD if source_type == "card" else None
    return bench.asked(NOBODY, source_type=source_type, **{"card": card, **members})
