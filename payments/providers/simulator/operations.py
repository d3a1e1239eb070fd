"""The simulator's bookings of captures, voids, cancellations, refunds and extensions of holds."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import BigIntegerField, F, QuerySet, Value

from payments import clock
from payments.providers.base import Operation
from payments.providers.simulator.answers import operation_outcome
from payments.providers.simulator.messages import write_message
from payments.providers.simulator.models import EXTENDED_DAYS_MAX, Entry, SimulatedOperation, SimulatedPayment
from payments.providers.simulator.scenarios import Refunds

State = SimulatedOperation.State
PaymentState = SimulatedPayment.State

# How a refund starts, and what it becomes by itself after a while.
REFUND_STATES = {
    Refunds.SUCCEED: (State.SUCCEEDED, ""),
    Refunds.FAIL_LATER: (State.SUCCEEDED, State.FAILED),
    Refunds.SUCCEED_LATER: (State.PENDING, State.SUCCEEDED),
}


def find_operation(reference: str) -> SimulatedOperation | None:
    """The operation that we call `reference`, with everything that time has done to it."""
    operation = SimulatedOperation.objects.filter(reference=reference).first()
    return _settle_if_due(operation) if operation else None


def book_operation(kind: str, operation: Operation, payment: SimulatedPayment) -> SimulatedOperation:
    """Books what is asked about `payment`, once for each reference; an impossible one as refused."""
    with transaction.atomic():
        row, is_new = SimulatedOperation.objects.get_or_create(
            reference=operation.reference,
            defaults={
                "payment": payment,
                "kind": kind,
                "amount": operation.amount,
                "hold_days": operation.hold_days,
                **beginning(kind, payment),
            },
        )
        if is_new and not _move(row):
            row.state, row.settles_at, row.settles_as = State.REFUSED, None, ""
            row.save()
    return row if is_new else _settle_if_due(row)


def settle_due_refunds(limit: int, among: Collection[str] | None = None) -> None:
    """Brings up to `limit` refunds, all or those of the references `among`, to the end that their card is known for."""
    due = SimulatedOperation.objects.filter(settles_at__lte=clock.now())
    due = due if among is None else due.filter(reference__in=among)
    for operation in due.order_by("settles_at")[:limit]:
        _settle_if_due(operation)


def beginning(kind: str, payment: SimulatedPayment) -> dict[str, str | datetime | None]:
    """How an operation on `payment` starts: its state, and what it becomes by itself and when."""
    state, settles_as = REFUND_STATES[Refunds(payment.refunds)] if kind == "refund" else (State.SUCCEEDED, "")
    delay = timedelta(seconds=settings.SIMULATOR_REFUND_DELAY_SECONDS)
    return {
        "state": state,
        "settles_as": settles_as,
        "settles_at": clock.now() + delay if settles_as else None,
    }


def _move(operation: SimulatedOperation) -> bool:
    """Whether the payment was in a state for it, and it was done."""
    return MOVES[operation.kind](operation, SimulatedPayment.objects.filter(id=operation.payment_id))


def _capture(operation: SimulatedOperation, rows: QuerySet[SimulatedPayment]) -> bool:
    held = rows.filter(state=PaymentState.HELD, amount__gte=operation.amount)
    taken = held.update(state=PaymentState.CAPTURED, amount_captured=operation.amount) == 1
    if taken:
        _enter(operation, Entry.Kind.CAPTURE, operation.amount)
        _enter(operation, Entry.Kind.RELEASE, operation.payment.amount - operation.amount)
    return taken


def _cancel(operation: SimulatedOperation, rows: QuerySet[SimulatedPayment]) -> bool:
    # No money was moved, so nothing is entered.
    return rows.filter(state=PaymentState.AWAITING).update(state=PaymentState.CANCELLED) == 1


def _void(operation: SimulatedOperation, rows: QuerySet[SimulatedPayment]) -> bool:
    if rows.filter(state=PaymentState.HELD).update(state=PaymentState.VOIDED):
        _enter(operation, Entry.Kind.RELEASE, operation.payment.amount)
        return True
    captured = rows.filter(state=PaymentState.CAPTURED, amount_refunded=0)
    if captured.update(state=PaymentState.VOIDED):
        operation.payment.refresh_from_db()
        _enter(operation, Entry.Kind.VOID, operation.payment.amount_captured)
        return True
    return False


def _refund(operation: SimulatedOperation, rows: QuerySet[SimulatedPayment]) -> bool:
    amount = operation.amount
    enough = rows.filter(state=PaymentState.CAPTURED, amount_captured__gte=F("amount_refunded") + _large(amount))
    given_back = enough.update(amount_refunded=F("amount_refunded") + _large(amount)) == 1
    if given_back:
        _enter(operation, Entry.Kind.REFUND, amount)
    return given_back


def _extend(operation: SimulatedOperation, rows: QuerySet[SimulatedPayment]) -> bool:
    # No money moves, so nothing is entered.
    room = EXTENDED_DAYS_MAX - operation.hold_days
    held = rows.filter(state=PaymentState.HELD, extended_days__lte=room)
    return held.update(extended_days=F("extended_days") + operation.hold_days) == 1


MOVES = {"capture": _capture, "void": _void, "cancel": _cancel, "refund": _refund, "extend": _extend}


def _settle_if_due(operation: SimulatedOperation) -> SimulatedOperation:
    if operation.settles_at and operation.settles_at <= clock.now():
        with transaction.atomic():
            _settle(operation)
    return operation


def _settle(operation: SimulatedOperation) -> None:
    unsettled = SimulatedOperation.objects.filter(id=operation.id, settles_at__isnull=False)
    settled = unsettled.update(state=operation.settles_as, settles_as="", settles_at=None) == 1
    operation.refresh_from_db()
    if settled:
        _give_back_what_failed(operation)
        write_message(operation.reference, operation_outcome(operation))


def _give_back_what_failed(operation: SimulatedOperation) -> None:
    if operation.state == State.FAILED:
        rows = SimulatedPayment.objects.filter(id=operation.payment_id)
        rows.update(amount_refunded=F("amount_refunded") - _large(operation.amount))
        _enter(operation, Entry.Kind.REFUND_RETURNED, operation.amount)


def _enter(operation: SimulatedOperation, kind: str, amount: int) -> None:
    if amount:
        Entry.objects.create(payment=operation.payment, reference=operation.reference, kind=kind, amount=amount)


def _large(amount: int) -> Value:
    """`amount` for a sum in a query, where Django takes a bare number for one of 32 bits and cuts it off."""
    return Value(amount, BigIntegerField())
