"""The states of a payout: each change is a guarded update with its journal and event, in one statement."""

from collections.abc import Mapping
from typing import Any

from payments import clock
from payments.db.fast_model import copy_with
from payments.db.writes import Update, Write, execute_writes_in_savepoint
from payments.domain.catalogue.event_types import PAYOUT_CANCELLED, PAYOUT_FAILED, PAYOUT_PAID, PAYOUT_UPDATED
from payments.domain.shared import events
from payments.domain.shared.caller import Caller, mode_name
from payments.ledger import movements
from payments.ledger.movements import Movement
from payments.models import Payout
from payments.money import shown_amount
from payments.sweeps.in_turn import each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope

Status = Payout.Status


def detail_of(payout: Payout) -> str:
    """Return amount and mode of a payout for the audit log."""
    return f"{shown_amount(payout.amount, payout.currency)}, {mode_name(payout.livemode)} mode"


def mark_sent(payout: Payout, **values: Any) -> Payout:
    """Record that the payout is on its way to the bank. Raise StaleRow unless it is still as it was read, pending."""
    now = clock.now()
    return _change(payout, Status.PENDING, PAYOUT_UPDATED, {"status": Status.IN_TRANSIT, "sent_at": now} | values)


def mark_paid(payout: Payout, **values: Any) -> Payout:
    """Record that the payout has left our bank. Raise StaleRow unless it is still as it was read, in transit."""
    changed = {"status": Status.PAID, "paid_at": clock.now(), "due_at": None} | values
    return _change(payout, Status.IN_TRANSIT, PAYOUT_PAID, changed, movements.payout_paid(payout.amount))


def mark_failed(payout: Payout, code: str) -> Payout:
    """Record that a bank refused or returned the payout; the merchant's balance has the money and its reserve again.

    Raise StaleRow unless it is still as it was read, in transit or paid.
    """
    was = Status.PAID if payout.status == Status.PAID else Status.IN_TRANSIT
    values = {"status": Status.FAILED, "failure_code": code} | _ended()
    movement = movements.payout_failed(payout.amount, payout.reserved, was_paid=was == Status.PAID)
    return _change(payout, was, PAYOUT_FAILED, values, movement)


def mark_paid_late(payout: Payout) -> Payout:
    """Record that the payout has left our bank all the same; the merchant's balance is charged with it again.

    Its reserve was given back with it, and is not kept again: the payout that took the money next keeps one of its own.
    Raise StaleRow unless it is still as it was read, failed or cancelled.
    """
    was = Status.CANCELLED if payout.status == Status.CANCELLED else Status.FAILED
    now = clock.now()
    values = {"status": Status.PAID, "failure_code": "", "sent_at": payout.sent_at or now, "paid_at": now}
    movement = movements.payout_paid_late(payout.amount)
    return _change(payout, was, PAYOUT_PAID, values | {"ended_at": None}, movement)


def cancel(payout: Payout) -> Payout:
    """Record that the payout will not be sent; the merchant's balance has the money and its reserve again.

    Raise StaleRow unless it is still as it was read, pending, in no bank file, and no provider may have it.
    """
    values = {"status": Status.CANCELLED} | _ended()
    movement = movements.payout_failed(payout.amount, payout.reserved, was_paid=False)
    return _change(payout, Status.PENDING, PAYOUT_CANCELLED, values, movement, file=None, asked_at=None)


def release_reserve(payout: Payout) -> Payout:
    """Give the payout's reserve to the merchant's balance. Raise StaleRow unless the payout is still as it was read."""
    movement = movements.reserve_released(payout.reserve)
    return _change(payout, payout.status, PAYOUT_UPDATED, {"reserve_due_at": None}, movement)


def release_reserves(scope: Scope = ALL_MERCHANTS) -> int:
    """Release the reserves whose time is over; return how many."""
    due = Payout.objects.filter(scope.within(), reserve_due_at__lte=clock.now())
    return each_in_turn(due, "reserve_due_at", lambda payout: bool(release_reserve(payout)))


def _ended() -> dict[str, Any]:
    """Return the columns of a payout whose money and reserve are the merchant's again."""
    return {"ended_at": clock.now(), "due_at": None, "reserve_due_at": None}


def _change(
    payout: Payout, was: str, event_type: str, values: Mapping[str, Any], movement: Movement | None = None, **same: Any
) -> Payout:
    """Write a change, with its journal and event, of a payout that has the status `was` and the values of `same`."""
    values = {**values, "version": payout.version + 1, "updated_at": clock.now()}
    changed = copy_with(payout, values)
    guard = {"id": payout.id, "merchant_id": payout.merchant_id, "version": payout.version, "status": was, **same}
    writes: list[Write] = [Update(Payout, guard, values)]
    writes += [movements.posted_for(payout, movement)] if movement else []
    writes += events.of(Caller(payout.merchant_id, payout.livemode), event_type, changed)
    execute_writes_in_savepoint(*writes)
    return changed
