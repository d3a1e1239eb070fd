"""Many charges from some, each with its source, card, first attempt and search entry, if there is one."""

from dataclasses import replace

from payments.models import Attempt, Card, Charge, Merchant, SearchEntry, Source
from tests import copies
from tests.copies import Table

# Only attempts that are over: others would be due, and those of refunds belong to these.
OVER = "kind = 'authorize' AND state = 'done'"
OF_CHARGES = "kind = 'charge'"
TABLES = (
    Table(Source),
    Table(Card, ("id", "source_id")),
    Table(Charge, ("id", "source_id")),
    Table(Attempt, ("id", "charge_id"), {"idempotency_id": "NULL", "refund_id": "NULL"}, OVER),
    Table(SearchEntry, condition=OF_CHARGES),
)


def multiply(count: int) -> None:
    """Put `count` copies of every charge beside it, and analyze the tables."""
    copies.multiply(count, TABLES)


def multiply_charges_of(merchant: Merchant, count: int) -> None:
    """Put `count` copies of each charge of `merchant` beside it, and analyze the tables."""
    own = f"merchant_id = '{merchant.pk}'"
    owned = {
        Card: f"source_id IN (SELECT id FROM payments_source WHERE {own})",  # nosec B608 # an ID
        SearchEntry: f"{OF_CHARGES} AND {own}",
        Attempt: f"{OVER} AND charge_id IN (SELECT id FROM payments_charge WHERE {own})",  # nosec B608 # an ID
    }
    copies.multiply(count, [replace(table, condition=owned.get(table.model, own)) for table in TABLES])
