"""Payouts made of a merchant's balance: each part of it is taken once, with its journal and event.

A settlement is taken when its day is over and the delay has passed; other postings are taken at once. What the merchant
owes is among them, so it is kept from the next payout.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Sum

from payments import clock, ids
from payments.db.writes import Insert, StaleRow, execute_writes
from payments.domain.catalogue.event_types import PAYOUT_CREATED
from payments.domain.payouts.schedules import account_in_effect, next_run_at
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.failpoints import Failpoint, reached
from payments.ledger import movements
from payments.models import Payout, PayoutAccount, PayoutPart, PayoutSchedule
from payments.sweeps.in_turn import each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope

# A settlement's sum is read after its part is locked: what was settling then has ended, and nothing settles after it.
TAKE_SETTLEMENTS = """
UPDATE payments_payoutpart part SET payout_id = %(payout)s, amount = (
    SELECT coalesce(-sum(amount), 0) FROM payments_posting
    WHERE settlement_id = part.id AND account = 'merchant_payable'
) WHERE id = ANY(%(parts)s)
"""

# A settlement whose day is over has its total, so that a merchant who was never paid out costs a row a day.
PAYABLE = """
SELECT s.id, coalesce(sum(CASE WHEN part.is_settlement THEN coalesce(
    (SELECT net FROM payments_settlementtotal WHERE settlement_id = part.id),
    (SELECT -sum(amount) FROM payments_posting WHERE settlement_id = part.id AND account = 'merchant_payable')
) ELSE part.amount END), 0)
FROM payments_payoutschedule s LEFT JOIN payments_payoutpart part ON part.payout_id IS NULL
    AND (part.merchant_id, part.livemode, part.currency) = (s.merchant_id, s.livemode, s.currency)
    AND part.payable_at <= %(now)s - CASE WHEN part.is_settlement THEN s.delay_days ELSE 0 END * interval '1 day'
WHERE s.id = ANY(%(schedules)s) GROUP BY s.id
"""


class NothingToPay(Exception):
    """The balance has nothing that can be paid out now; the message says why, for operators."""


def make_due(scope: Scope = ALL_MERCHANTS) -> int:
    """Make the payouts whose time has come, each in its own transaction; return how many schedules were run."""
    return each_in_turn(PayoutSchedule.objects.filter(scope.within(), next_at__lte=clock.now()), "next_at", _run_due)


def make_now(schedule_id: UUID, requested_by: User | None = None) -> Payout:
    """Make a payout of what one schedule's balance has, as an operator asks for. Raise NothingToPay."""
    with transaction.atomic():
        schedule = PayoutSchedule.objects.select_for_update(no_key=True).get(id=schedule_id)
        return _make(schedule, clock.now(), requested_by)


def payable(schedule: PayoutSchedule, now: datetime) -> int:
    """Return the sum of the parts that a payout would take now."""
    return payables([schedule], now)[schedule.id]


def payables(schedules: Collection[PayoutSchedule], now: datetime) -> dict[UUID, int]:
    """Return the sum of the parts that a payout of each schedule would take now, by the schedule's ID."""
    with connection.cursor() as cursor:
        cursor.execute(PAYABLE, {"schedules": [schedule.id for schedule in schedules], "now": now})
        return {schedule_id: int(total) for schedule_id, total in cursor.fetchall()}


def reserve_of(schedule: PayoutSchedule, total: int) -> int:
    """Return what is kept of a payout of `total`."""
    return max(0, total) * schedule.reserve_percent // 100


def _run_due(schedule: PayoutSchedule) -> int:
    run = _run(schedule.id)
    reached(Failpoint.SETTLED)
    return run


@transaction.atomic
def _run(schedule_id: UUID) -> int:
    """Run a schedule that is due, unless another process does; return 1 if it was run."""
    now = clock.now()
    due = PayoutSchedule.objects.filter(id=schedule_id, next_at__lte=now)
    schedule = due.select_for_update(skip_locked=True, no_key=True).first()
    if schedule is None:
        return 0
    reached(Failpoint.LOCKED)
    try:
        with transaction.atomic():
            _make(schedule, now)
    except NothingToPay:
        pass
    schedule.next_at = next_run_at(schedule.interval, now)
    schedule.save(update_fields=["next_at"])
    reached(Failpoint.POSTED)
    return 1


def _make(schedule: PayoutSchedule, now: datetime, requested_by: User | None = None) -> Payout:
    account = account_in_effect(schedule, now)
    if account is None:
        raise NothingToPay("The merchant has no bank account for this currency.")
    # Lists look for the times of payouts by their IDs.
    payout_id = ids.new_id(now)
    total = _take(schedule, payout_id, now)
    reached(Failpoint.TAKEN)
    reserve = reserve_of(schedule, total)
    if total - reserve < 1:
        raise NothingToPay("The merchant's balance has nothing to pay out.")
    payout = _new(payout_id, schedule, account, total - reserve, reserve, now)
    payout.requested_by = requested_by
    movement = movements.payout_made(payout.amount, payout.reserve)
    written = events.of(Caller(payout.merchant_id, payout.livemode), PAYOUT_CREATED, payout)
    execute_writes(Insert(payout), movements.posted_for(payout, movement), *written)
    return payout


def _take(schedule: PayoutSchedule, payout_id: UUID, now: datetime) -> int:
    """Take every part that can be paid out, and return what they sum to."""
    own = PayoutPart.objects.of(schedule.merchant_id, schedule.livemode).filter(currency=schedule.currency)
    ready = own.filter(payout__isnull=True, payable_at__lte=now)
    parts = ready.exclude(is_settlement=True, payable_at__gt=now - timedelta(days=schedule.delay_days))
    closed = parts.filter(is_settlement=True).select_for_update().order_by("id")
    settlements = list(closed.values_list("id", flat=True))
    with connection.cursor() as cursor:
        cursor.execute(TAKE_SETTLEMENTS, {"payout": payout_id, "parts": settlements})
        if cursor.rowcount != len(settlements):
            raise StaleRow
    parts.filter(is_settlement=False).update(payout=payout_id)
    return int(PayoutPart.objects.filter(payout=payout_id).aggregate(total=Sum("amount"))["total"] or 0)


def _new(
    payout_id: UUID, schedule: PayoutSchedule, account: PayoutAccount, amount: int, reserve: int, now: datetime
) -> Payout:
    return Payout(
        id=payout_id,
        merchant_id=schedule.merchant_id,
        livemode=schedule.livemode,
        currency=schedule.currency,
        account=account,
        provider_account_id=schedule.provider_account_id,
        amount=amount,
        reserve=reserve,
        reserve_due_at=now + timedelta(days=schedule.reserve_days) if reserve else None,
        due_at=None if schedule.livemode else now,
        created_at=now,
        updated_at=now,
    )
