"""Daily sums of the ledger by account and kind of movement: each day is summed once, when it is over.

Days are summed in their order, one transaction each, so all days before a summed one are summed too. Repeating a day
gives the same sums. Of days that are not summed yet, `sums` reads the postings.
"""

import sys
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import connection, transaction

from payments import clock
from payments.concurrency.connections import allow_long_statements
from payments.ids import first_id
from payments.ledger.totals import OF_DAY
from payments.models import AccountDay, LedgerDay, Posting

DAY = timedelta(days=1)
# A transaction may take so long to commit, so all postings of a day are visible by then.
COMMITTED_AFTER = timedelta(minutes=10)
# An ID is made just before or after the moment that its posting bears.
ID_MARGIN = timedelta(hours=1)
BATCH = 50

LOCK = "SELECT pg_try_advisory_xact_lock(hashtext('kaha.account_days'), 0)"
DELETE = "DELETE FROM payments_accountday WHERE day = %(day)s"
# The index of the IDs finds a day's postings.
SUMS = """
SELECT merchant_id, livemode, currency, (created_at AT TIME ZONE 'UTC')::date AS day, account, kind,
    coalesce(sum(amount) FILTER (WHERE amount > 0), 0)::bigint AS debits,
    coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)::bigint AS credits, count(*) AS postings
FROM payments_posting
WHERE id >= %(first_id)s AND id < %(next_id)s AND created_at >= %(since)s AND created_at < %(until)s
"""
INSERT = f"""
INSERT INTO payments_accountday (merchant_id, livemode, currency, day, account, kind, debits, credits, postings)
{SUMS} GROUP BY 1, 2, 3, 4, 5, 6
"""
SUM_SETTLEMENTS = f"""
INSERT INTO payments_settlementtotal (merchant_id, settlement_id, charges, gross, refunds, fees, net)
SELECT s.merchant_id, total.* FROM ({OF_DAY}) total JOIN payments_settlement s ON s.id = total.settlement_id
ON CONFLICT ON CONSTRAINT payments_settlementtotal_pkey DO UPDATE SET charges = excluded.charges,
    gross = excluded.gross, refunds = excluded.refunds, fees = excluded.fees, net = excluded.net
"""  # nosec B608 # of constants
FINISH = """
INSERT INTO payments_ledgerday (day, postings, summed_at)
SELECT %(day)s, coalesce(sum(postings), 0), %(now)s FROM payments_accountday WHERE day = %(day)s
ON CONFLICT (day) DO UPDATE SET postings = excluded.postings, summed_at = excluded.summed_at
"""


def sum_up_due(limit: int = BATCH) -> int:
    """Sum up at most `limit` days that are over and not summed yet, in their order; return how many."""
    last_over = (clock.now() - COMMITTED_AFTER).date() - DAY
    done = 0
    while done < limit and (day := first_unsummed()) and day <= last_over and sum_up(day):
        done += 1
    return done


def rebuild() -> int:
    """Sum up every day anew, after rows were written into the past; return how many."""
    with transaction.atomic():
        LedgerDay.objects.all().delete()
        AccountDay.objects.all().delete()
    return sum_up_due(limit=sys.maxsize)


def first_unsummed() -> date | None:
    """Return the first day without sums; None before the first posting."""
    last = LedgerDay.objects.order_by("day").values_list("day", flat=True).last()
    if last:
        return last + DAY
    first = Posting.objects.order_by("id").first()
    # A later ID may have an earlier moment, but not by more than this.
    return (first.created_at - ID_MARGIN).date() if first else None


@transaction.atomic
def sum_up(day: date) -> bool:
    """Replace the sums of `day`; return False where another process is summing."""
    allow_long_statements("15min")
    values = bounds(midnight(day), midnight(day + DAY)) | {"day": day, "now": clock.now()}
    with connection.cursor() as cursor:
        cursor.execute(LOCK)
        if not cursor.fetchone()[0]:
            return False
        for statement in (DELETE, INSERT, SUM_SETTLEMENTS, FINISH):
            cursor.execute(statement, values)
    return True


def bounds(since: datetime, until: datetime) -> dict[str, Any]:
    """Return the parameters of SUMS."""
    first, last = since - ID_MARGIN, until + ID_MARGIN
    return {"since": since, "until": until, "first_id": first_id(first), "next_id": first_id(last)}


def midnight(day: date) -> datetime:
    """Return the beginning of `day` in UTC."""
    return datetime.combine(day, time(), UTC)
