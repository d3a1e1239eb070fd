"""Many charges from some, each with its source, card and first attempt."""

from payments.models import Attempt, Card, Charge, Source
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
    """Puts `count` copies of every charge beside it, and looks at the tables anew."""
    copies.multiply(count, TABLES)
