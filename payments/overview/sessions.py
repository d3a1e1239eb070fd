"""Checkout sessions by merchant: from the totals of past days, and from the sessions of the last two days."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from uuid import UUID

from django.db import connection

from payments.models.merchants.merchant_access import Limit
from payments.overview.day_totals import SESSIONS_COUNTED, bounds, first_not_done
from payments.overview.days import DAY, Days

READ = f"""
SELECT merchant_id, outcome, sum(count)::bigint FROM (
    SELECT merchant_id, outcome, count FROM payments_daytotal
    WHERE livemode = %(livemode)s AND day >= %(begin)s AND day < %(live_from)s AND currency = %(currency)s
        AND source_type = 'checkout_session'
        AND (%(merchants)s::uuid[] IS NULL OR merchant_id = ANY(%(merchants)s))
    UNION ALL
    SELECT merchant_id, outcome, count FROM ({SESSIONS_COUNTED}) AS live
    WHERE livemode = %(livemode)s AND currency = %(currency)s
        AND (%(merchants)s::uuid[] IS NULL OR merchant_id = ANY(%(merchants)s))
) AS total GROUP BY 1, 2
"""  # nosec B608 # made of constants


def sessions_of(livemode: bool, days: Days, currency: str, limit: Limit = None) -> Mapping[UUID, Counter[str]]:
    """Return the numbers of sessions that were opened on `days`, by merchant in `limit` and outcome.

    Sessions of yesterday may still be open, so that they are counted one by one, as those of today.
    """
    live_from = max(days.first, min(first_not_done(days), days.last - DAY))
    values = bounds(Days(live_from, days.last)) | {"live_from": live_from, "begin": days.first}
    chosen = {"livemode": livemode, "currency": currency, "merchants": None if limit is None else list(limit)}
    found: defaultdict[UUID, Counter[str]] = defaultdict(Counter)
    with connection.cursor() as cursor:
        cursor.execute(READ, values | chosen)
        for merchant_id, outcome, count in cursor.fetchall():
            found[merchant_id][outcome] += count
    return found
