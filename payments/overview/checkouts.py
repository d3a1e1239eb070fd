"""Checkout sessions by merchant, of past days and of the last two, and what payment requests have collected."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db import connection
from django.db.models import Count, Sum

from payments.models import Charge, PaymentRequest
from payments.models.merchants.merchant_access import Limit, within
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


def collected_of(livemode: bool, days: Days, currency: str, limit: Limit = None) -> Sequence[tuple[int, int, int]]:
    """Return for each number of a try: how many of the requests that were made on `days` it has paid, and their sum.

    The sum is in the smallest unit of `currency`.
    """
    paid = PaymentRequest.objects.filter(
        within(limit, "merchant_id"),
        checkout__id__range=(days.first_id, days.next_id),
        livemode=livemode,
        collect_ended=PaymentRequest.Ended.PAID,
        checkout__currency=currency,
        checkout__charges__initiator=Charge.Initiator.MERCHANT,
        checkout__charges__captured=True,
    )
    sums = paid.values("collect_tries").annotate(count=Count("pk"), amount=Sum("checkout__charges__amount"))
    return list(sums.order_by("collect_tries").values_list("collect_tries", "count", "amount"))
