"""Daily settlement: what providers owe us becomes money in the bank, what merchants wait for becomes theirs.

A charge is locked before its postings are summed, and they are summed in a later statement, whose snapshot is taken
with the lock held. Whatever posts money on a charge that settles changes its row in the same statement: committed
before the lock it is in the sum; otherwise it waits for the settlement and, where it depends on which came first, is
refused by its guard on `settled_at`.
"""

from collections import Counter
from collections.abc import Collection
from datetime import date, datetime, time, timedelta
from itertools import takewhile
from uuid import UUID

from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce

from payments import clock
from payments.db.writes import StaleRow
from payments.failpoints import Failpoint, reached
from payments.ledger import movements
from payments.models import Charge, PayoutPart, Posting, Settlement
from payments.sweeps.scope import ALL_MERCHANTS, Scope

BATCH = 500
# The next run of the worker settles the rest.
BATCHES_PER_RUN = 100

LOCK_OPEN = """
SELECT s.* FROM payments_settlement s JOIN payments_payoutpart part ON part.id = s.id
WHERE s.day = %(day)s AND s.merchant_id = ANY(%(merchants)s) AND part.payout_id IS NULL
ORDER BY part.id FOR SHARE OF part
"""

Batch = tuple[UUID, bool, str]


def next_settlement_at(now: datetime) -> datetime:
    """Return the end of the day in UTC, when what moved on it is settled."""
    return datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)


def settle_all_due(scope: Scope = ALL_MERCHANTS) -> int:
    """Settle the charges that are due, in at most BATCHES_PER_RUN batches; return how many charges."""
    return sum(takewhile(bool, (settle_due(scope=scope) for _ in range(BATCHES_PER_RUN))))


def settle_due(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Settle at most `limit` charges that are due, in one transaction; return how many.

    A charge with an operation under way, or that another process is changing, is left for the next time.
    """
    with transaction.atomic():
        due = Charge.objects.filter(scope.within(), settle_due_at__lte=clock.now(), operation="")
        batch = due.order_by("settle_due_at").only("merchant_id", "livemode", "currency")
        charges = list(batch.select_for_update(skip_locked=True, no_key=True)[:limit])
        reached(Failpoint.LOCKED)
        if charges:
            _settle(charges, clock.now())
        reached(Failpoint.POSTED)
    reached(Failpoint.SETTLED)
    return len(charges)


def _settle(charges: Collection[Charge], now: datetime) -> None:
    postings = Posting.objects.filter(charge__in=charges, account__in=movements.SETTLES_TO)
    sums = postings.values("charge_id", "account").annotate(total=Sum("amount")).exclude(total=0)
    unsettled: dict[UUID, dict[str, int]] = {}
    for charge_id, account, total in sums.values_list("charge_id", "account", "total"):
        unsettled.setdefault(charge_id, {})[account] = total
    moving = [charge for charge in charges if charge.id in unsettled]
    settlements = _open_settlements({_batch_of(charge) for charge in moving}, now.date())
    Posting.objects.bulk_create(
        posting
        for charge in moving
        for posting in movements.settled(charge, settlements[_batch_of(charge)], unsettled[charge.id], now)
    )
    rows = Charge.objects.filter(id__in=[charge.id for charge in charges], operation="")
    if rows.update(settle_due_at=None, settled_at=Coalesce("settled_at", now)) != len(charges):
        raise StaleRow


def _open_settlements(batches: Collection[Batch], day: date) -> dict[Batch, Settlement]:
    """Return the day's settlement for each batch, locked against payouts; create those that do not exist."""
    found = _lock_open(batches, day)
    if missing := {batch for batch in batches if batch not in found}:
        mine = Settlement.objects.filter(day=day, merchant__in={merchant_id for merchant_id, _, _ in missing})
        taken = PayoutPart.objects.filter(is_settlement=True, payout__isnull=False).values("id")
        paid = Counter(map(_batch_of, mine.filter(id__in=taken)))
        # One order for all processes prevents a deadlock.
        wanted = [
            Settlement(merchant_id=merchant_id, livemode=livemode, currency=currency, day=day, number=paid[batch] + 1)
            for batch in sorted(missing)
            for merchant_id, livemode, currency in [batch]
        ]
        Settlement.objects.bulk_create(wanted, ignore_conflicts=True)
        found |= _lock_open(missing, day)
    return found


def _lock_open(batches: Collection[Batch], day: date) -> dict[Batch, Settlement]:
    """Return the day's settlements of these merchants that no payout has taken; a payout now waits for us."""
    rows = Settlement.objects.raw(LOCK_OPEN, {"day": day, "merchants": [merchant_id for merchant_id, _, _ in batches]})
    return {_batch_of(row): row for row in rows}


def _batch_of(row: Charge | Settlement) -> Batch:
    return row.merchant_id, row.livemode, row.currency
