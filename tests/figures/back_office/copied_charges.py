"""Many charges from some, each with its source, card and first attempt."""

from dataclasses import replace

from payments.models import Attempt, Card, Charge, Merchant, Source
from tests import copies
from tests.copies import Table

# Only attempts that are over: others would be due, and those of refunds belong to these.
OVER = "kind = 'authorize' AND state = 'done'"
TABLES = (
    Table(Source),
    Table(Card, ("id", "source_id")),
    Table(Charge, ("id", "source_id")),
    Table(Attempt, ("id", "charge_id"), {"idempotency_id": "NULL", "refund_id": "NULL"}, OVER),
)


def multiply(count: int) -> None:
    """Put `count` copies of every charge beside it, and analyze the tables."""
    copies.multiply(count, TABLES)


def multiply_charges_of(merchant: Merchant, count: int) -> None:
    """Put `count` copies of each charge of `merchant` beside it, and analyze the tables."""
    own = f"merchant_id = '{merchant.pk}'"
    owned = {
        Card: f"source_id IN (SELECT id FROM payments_source WHERE {own})",  # nosec B608 # an ID
        Attempt: f"{OVER} AND charge_id IN (SELECT id FROM payments_charge WHERE {own})",  # nosec B608 # an ID
    }
    copies.multiply(count, [replace(table, condition=owned.get(table.model, own)) for table in TABLES])
