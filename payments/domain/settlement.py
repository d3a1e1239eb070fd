"""Daily settlement: what providers owe us becomes money in the bank, what merchants wait for becomes theirs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from payments import clock
from payments.domain.scope import EVERYBODY, Scope
from payments.models import Charge
from payments.models.charge import ChargeQuerySet
from payments.models.together import StaleRow
from payments.steps import Step, reached

BATCH = 500

# One batch for each merchant, mode, currency and day; whoever comes first makes it.
OPEN_BATCHES = """
INSERT INTO payments_settlement (id, merchant_id, livemode, currency, day, created_at)
SELECT gen_random_uuid(), merchant_id, livemode, currency, %(day)s, %(now)s FROM payments_charge
WHERE id = ANY(%(ids)s) GROUP BY merchant_id, livemode, currency
ON CONFLICT (merchant_id, livemode, currency, day) DO NOTHING
"""
# Whatever stands on the two accounts of money not settled yet moves to those of money that is.
POST = """
WITH moved AS (
    SELECT charge_id, account, sum(amount) AS amount,
        CASE account WHEN 'provider_receivable' THEN 'bank' ELSE 'merchant_payable' END AS settled_account
    FROM payments_posting
    WHERE charge_id = ANY(%(ids)s) AND account IN ('provider_receivable', 'merchant_pending')
    GROUP BY charge_id, account HAVING sum(amount) <> 0
), journal AS MATERIALIZED (
    SELECT charge_id, gen_random_uuid() AS id FROM moved GROUP BY charge_id
), line AS (
    SELECT charge_id, account, -amount AS amount FROM moved
    UNION ALL SELECT charge_id, settled_account, amount FROM moved
)
INSERT INTO payments_posting (id, journal, line, merchant_id, livemode, currency, account, kind, amount, charge_id,
    settlement_id, created_at)
SELECT gen_random_uuid(), journal.id, row_number() OVER (PARTITION BY charge_id ORDER BY line.account),
    c.merchant_id, c.livemode, c.currency, line.account, 'settle', line.amount, charge_id, s.id, %(now)s
FROM line JOIN journal USING (charge_id) JOIN payments_charge c ON c.id = charge_id
JOIN payments_settlement s ON s.day = %(day)s
    AND (s.merchant_id, s.livemode, s.currency) = (c.merchant_id, c.livemode, c.currency)
"""
CLOSE = """
UPDATE payments_charge SET settle_due_at = NULL, settled_at = coalesce(settled_at, %(now)s)
WHERE id = ANY(%(ids)s) AND captured AND status IN ('succeeded', 'refunded') AND operation = ''
"""


def settle_due(limit: int = BATCH, scope: Scope = EVERYBODY) -> int:
    """Settles at most `limit` charges whose time has come, in one transaction; returns how many.

    A charge with an operation under way, or that another process is changing, is left for the next time.
    """
    now = clock.now()
    due = Charge.objects.filter(scope.within(), settle_due_at__lte=now, operation="").order_by("settle_due_at")
    with transaction.atomic():
        ids = _lock(due[:limit])
        reached(Step.LOCKED)
        if ids:
            _settle(ids, now)
        reached(Step.POSTED)
    reached(Step.SETTLED)
    return len(ids)


def _lock(due: ChargeQuerySet) -> list[UUID]:
    return list(due.select_for_update(skip_locked=True, no_key=True).values_list("id", flat=True))


def _settle(ids: Sequence[UUID], now: datetime) -> None:
    values: dict[str, Any] = {"ids": list(ids), "now": now, "day": now.date()}
    with connection.cursor() as cursor:
        cursor.execute(OPEN_BATCHES, values)
        # A statement of its own sees every posting that was committed before the charges were locked.
        cursor.execute(POST, values)
        cursor.execute(CLOSE, values)
        if cursor.rowcount != len(ids):
            raise StaleRow
