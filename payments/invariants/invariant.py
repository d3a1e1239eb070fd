"""An invariant, and the statement that finds its offenders."""

from dataclasses import dataclass

SAMPLE = 20

# The tables of which a run may look at one merchant's rows alone, by the names that they have in the queries.
TABLES = {
    "charge": "payments_charge",
    "refund": "payments_refund",
    "source": "payments_source",
    "event": "payments_event",
    "webhook": "payments_webhook",
    "posting": "payments_posting",
    "running_balance": "payments_runningbalance",
    "idempotency_record": "payments_idempotencyrecord",
}
ROWS_OF = """{name} AS NOT MATERIALIZED (
    SELECT * FROM {table} WHERE %(merchant)s::uuid IS NULL OR merchant_id = %(merchant)s
)"""
# What is older may be gone with its month. Of each month the webhooks go first, and nothing before an older month.
KEPT = """kept AS MATERIALIZED (
    SELECT coalesce((
        SELECT substring(pg_get_expr(relpartbound, oid) FROM 'FROM [(]''([0-9a-f-]+)''[)]')::uuid
        FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = 'payments_webhook'::regclass ORDER BY relname LIMIT 1
    ), '00000000-0000-0000-0000-000000000000') AS id
)"""
OFFENDERS = """
WITH {kept}, {rows}, offender AS MATERIALIZED (SELECT DISTINCT id FROM ({query}) AS found)
SELECT (SELECT count(*) FROM offender), ARRAY(SELECT id FROM offender ORDER BY id LIMIT {sample})
"""


@dataclass(frozen=True)
class Invariant:
    """What must be true, told to operators in one sentence, and the query that returns the `id` of each offender.

    `model` names the rows that offend, as `payments.Charge`, and `prefix` the one of their public IDs. A query sees
    the rows of `TABLES` under their short names, and under a merchant's scope those of the merchant alone; where it
    makes no sense for one merchant, `of_merchants` is False. Events and what tells of them are there from the one ID of
    `kept` on, and some that are older. Rows that lack others are found by a column of the join,
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
        return OFFENDERS.format(kept=KEPT, rows=rows, query=self.query, sample=SAMPLE)
