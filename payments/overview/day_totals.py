"""Totals of past days: each day is summed up when it is over, and again while charges of it are pending.

One transaction sums up a whole day, and repeating it gives the same totals. Until then, `trade` counts the day's
charges themselves.
"""

from datetime import date, timedelta
from typing import Any

from django.db import connection, transaction

from payments import clock
from payments.models.books.day_total import SESSION
from payments.models.charging.charge import ABANDONED
from payments.overview.days import DAY, Days

# A request may take so long to commit, so all charges of a day are visible by then.
COMMITTED_AFTER = timedelta(minutes=10)
BATCH = 50

# By days, or by hours, whose beginnings are `days`.
COUNTED_BY = f"""
SELECT (%(days)s::{{moment}}[])[width_bucket(c.id, %(first_ids)s::uuid[])] AS day,
    c.merchant_id, c.livemode, c.currency, s.type AS source_type, coalesce(a.provider, '') AS provider,
    CASE WHEN c.status = 'pending' THEN 'pending' WHEN c.status <> 'failed' THEN 'approved'
        WHEN c.failure_data ->> 'code' IN {ABANDONED} THEN 'abandoned'
        ELSE 'declined' END AS outcome,
    coalesce(c.failure_data ->> 'code', '') AS reason, count(*) AS count, sum(c.amount)::bigint AS amount
FROM payments_charge c JOIN payments_source s ON s.id = c.source_id
    LEFT JOIN payments_attempt a
        ON a.charge_id = c.id AND a.id >= %(first_id)s AND a.kind = 'authorize' AND NOT a.passed_on
WHERE c.id >= %(first_id)s AND c.id < %(next_id)s
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
"""  # nosec B608 # made of constants
COUNTED = COUNTED_BY.format(moment="date")
SESSIONS_COUNTED = f"""
SELECT (%(days)s::date[])[width_bucket(c.id, %(first_ids)s::uuid[])] AS day,
    c.merchant_id, c.livemode, c.currency, '{SESSION}' AS source_type, '' AS provider,
    CASE WHEN c.state IN ('unpaid', 'paying') THEN 'pending' WHEN c.state = 'expired' THEN 'abandoned'
        ELSE 'approved' END AS outcome,
    '' AS reason, count(*) AS count, sum(c.amount)::bigint AS amount
FROM payments_checkout c
WHERE c.id >= %(first_id)s AND c.id < %(next_id)s AND c.kind = 'session'
GROUP BY 1, 2, 3, 4, 7
"""  # nosec B608 # made of constants
# A session of a day ends within a day of it, and is ended soon after. Until then nothing waits for it, as for a charge.
SESSIONS_END = "(each.day::date + interval '49 hours') AT TIME ZONE 'UTC'"
# A second process waits here until the first has committed.
CLAIM = """
INSERT INTO payments_summedday (day, pending, summed_at) VALUES (%(day)s, 0, %(now)s)
ON CONFLICT (day) DO UPDATE SET summed_at = excluded.summed_at
"""
DELETE_TOTALS = "DELETE FROM payments_daytotal WHERE day = %(day)s"
SUM_UP = f"""
INSERT INTO payments_daytotal
    (day, merchant_id, livemode, currency, source_type, provider, outcome, reason, count, amount)
{COUNTED} UNION ALL {SESSIONS_COUNTED}
"""
COUNT_PENDING = f"""
UPDATE payments_summedday each SET pending = (
    SELECT coalesce(sum(count), 0) FROM payments_daytotal t
    WHERE t.day = %(day)s AND t.outcome = 'pending' AND (t.source_type <> '{SESSION}' OR {SESSIONS_END} <= %(now)s)
) WHERE day = %(day)s
"""  # nosec B608 # made of constants
# Before the first charge or session there is nothing to sum up.
DAYS = """
generate_series(
    greatest(
        least(
            (SELECT created_at AT TIME ZONE 'UTC' FROM payments_charge ORDER BY id LIMIT 1)::date,
            (SELECT created_at AT TIME ZONE 'UTC' FROM payments_checkout ORDER BY id LIMIT 1)::date
        ),
        %(first)s::date
    ),
    %(last)s::date, '1 day'
) AS each (day) LEFT JOIN payments_summedday s ON s.day = each.day
"""
FIRST_NOT_DONE = f"SELECT min(each.day)::date FROM {DAYS} WHERE s.day IS NULL"  # nosec B608 # made of constants
DUE = f"""
SELECT each.day::date FROM {DAYS}
WHERE s.day IS NULL OR s.pending > 0 OR s.summed_at < {SESSIONS_END} AND {SESSIONS_END} <= %(now)s OR %(again)s
ORDER BY s.summed_at NULLS FIRST, each.day LIMIT %(limit)s
"""  # nosec B608 # made of constants


def sum_up_due(limit: int = BATCH) -> int:
    """Sum up at most `limit` days that are over and not summed up, or had pending charges; return how many."""
    days = due_days(limit)
    for day in days:
        sum_up(day)
    return len(days)


def due_days(limit: int | None = None, *, again: bool = False) -> list[date]:
    """Return at most `limit` days: those that are over and not summed up, then those that had pending charges or whose
    sessions have ended since.

    With `again` the days that are summed up follow.
    """
    now = clock.now()
    last_over = (now - COMMITTED_AFTER).date() - DAY
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"first": None, "last": last_over, "again": again, "limit": limit, "now": now})
        return [day for (day,) in cursor.fetchall()]


def every_day() -> list[date]:
    """Return every day that is over, summed up or not."""
    return due_days(again=True)


@transaction.atomic
def sum_up(day: date) -> None:
    """Replace the totals of `day`."""
    days = Days(day, day)
    values = bounds(days) | {"day": day, "now": clock.now()}
    with connection.cursor() as cursor:
        for statement in (CLAIM, DELETE_TOTALS, SUM_UP, COUNT_PENDING):
            cursor.execute(statement, values)


def first_not_done(days: Days) -> date:
    """Return the first of `days` that is not summed up and may have charges, or the day after them."""
    with connection.cursor() as cursor:
        cursor.execute(FIRST_NOT_DONE, {"first": days.first, "last": days.last})
        [(day,)] = cursor.fetchall()
    return day or days.last + DAY


def bounds(days: Days) -> dict[str, Any]:
    """Return the parameters of COUNTED."""
    return {"days": list(days), "first_ids": list(days.first_ids), "first_id": days.first_id, "next_id": days.next_id}
