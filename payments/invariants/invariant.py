"""An invariant, and the statement that finds its offenders."""

from dataclasses import dataclass

SAMPLE = 20

# The tables of which a run may look at one merchant's rows alone, by the names that they have in the queries.
TABLES = {
    "charge": "payments_charge",
    "refund": "payments_refund",
    "source": "payments_source",
    "event": "payments_event",
    "notification": "payments_notification",
    "posting": "payments_posting",
    "idempotency_record": "payments_idempotencyrecord",
}
ROWS_OF = """{name} AS NOT MATERIALIZED (
    SELECT * FROM {table} WHERE %(merchant)s::uuid IS NULL OR merchant_id = %(merchant)s
)"""
OFFENDERS = """
WITH {rows}, offender AS MATERIALIZED (SELECT DISTINCT id FROM ({query}) AS found)
SELECT (SELECT count(*) FROM offender), ARRAY(SELECT id FROM offender ORDER BY id LIMIT {sample})
"""


@dataclass(frozen=True)
class Invariant:
    """What must be true, told to operators in one sentence, and the query that returns the `id` of each offender.

    `model` names the rows that offend, as `payments.Charge`, and `prefix` the one of their public IDs. A query sees
    the rows of `TABLES` under their short names, and under a merchant's scope those of the merchant alone; where it
    makes no sense for one merchant, `of_merchants` is False. Rows that lack others are found by a column of the join,
    `IS NULL`, which PostgreSQL does by hashing however many they are.
    """

    name: str
    sentence: str
    model: str
    prefix: str
    query: str
    of_merchants: bool = True

    def statement(self) -> str:
        """The statement that returns how many offend, and the IDs of some; its parameter is `merchant`, or None."""
        rows = ", ".join(ROWS_OF.format(name=name, table=table) for name, table in TABLES.items())
        return OFFENDERS.format(rows=rows, query=self.query, sample=SAMPLE)
