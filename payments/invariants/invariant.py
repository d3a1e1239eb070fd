"""An invariant, and the statement that finds the rows that break it."""

from dataclasses import dataclass

SAMPLE = 20

# The tables that a run can limit to one merchant's rows, by their names in the queries.
TABLES = {
    "charge": "payments_charge",
    "refund": "payments_refund",
    "dispute": "payments_dispute",
    "source": "payments_source",
    "checkout": "payments_checkout",
    "payment_link": "payments_paymentlink",
    "event": "payments_event",
    "webhook": "payments_webhook",
    "posting": "payments_posting",
    "payout": "payments_payout",
    "payout_part": "payments_payoutpart",
    "running_balance": "payments_runningbalance",
    "account_day": "payments_accountday",
    "idempotency_record": "payments_idempotencyrecord",
    "customer": "customers_customer",
}
ROWS_OF = """{name} AS NOT MATERIALIZED (
    SELECT * FROM {table} WHERE %(merchant)s::uuid IS NULL OR merchant_id = %(merchant)s
)"""
# Rows that were imported lie before it, and have events of later changes alone. Of others, older ones may have been
# dropped with their month. Each month's webhooks are dropped first, oldest month first.
KEPT = """kept AS MATERIALIZED (
    SELECT greatest('00000000-0001-0000-0000-000000000000', (
        SELECT substring(pg_get_expr(relpartbound, oid) FROM 'FROM [(]''([0-9a-f-]+)''[)]')::uuid
        FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = 'payments_webhook'::regclass ORDER BY relname LIMIT 1
    )) AS id
)"""
OFFENDERS = """
WITH {kept}, {rows}, offender AS MATERIALIZED (SELECT DISTINCT id FROM ({query}) AS found)
SELECT (SELECT count(*) FROM offender), ARRAY(SELECT id FROM offender ORDER BY id LIMIT {sample})
"""


@dataclass(frozen=True)
class Invariant:
    """One invariant, in one sentence for operators, and the query that returns the `id` of each row that breaks it.

    `model` names these rows, such as `payments.Charge`, and `prefix` begins their IDs where the model does not say so.
    A query reads `TABLES` under their short names, limited to one merchant's rows in a run for that merchant;
    `of_merchants` is False where this makes no sense. Events and webhooks are complete from the ID in `kept` on.
    Queries find missing rows by `IS NULL` on an outer join, which PostgreSQL hashes at any size.
    """

    name: str
    sentence: str
    model: str
    query: str
    prefix: str | None = None
    of_merchants: bool = True

    def statement(self) -> str:
        """Return the statement for the number of offenders and some IDs; its parameter is `merchant`, or None."""
        rows = ", ".join(ROWS_OF.format(name=name, table=table) for name, table in TABLES.items())
        return OFFENDERS.format(kept=KEPT, rows=rows, query=self.query, sample=SAMPLE)
