"""The simulator's bookings of captures, voids, cancellations, refunds and extensions of holds."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import BigIntegerField, F, Value

from payments import clock
from payments.db.writes import BulkInsert, Insert, StaleRow, Update, Write, execute_writes_in_savepoint
from payments.providers.base import Operation
from payments.providers.simulator.answers import operation_outcome
from payments.providers.simulator.disputes import first_due_at
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

# What moves of a payment: that it is as it was read says that nobody else has moved it.
MOVED = ("state", "amount_captured", "amount_refunded", "amount_disputed", "extended_days")


@dataclass(frozen=True, slots=True)
class Move:
    """What an operation changes of its payment, and what money it moves, which is entered."""

    changes: dict[str, Any]
    moved: tuple[tuple[str, int], ...] = ()


def find_operation(reference: str) -> SimulatedOperation | None:
    """Return the operation with our `reference`, after all its deadlines that have passed."""
    operation = SimulatedOperation.objects.filter(reference=reference).first()
    return _settle_if_due(operation) if operation else None


def book_operation(kind: str, operation: Operation, payment: SimulatedPayment) -> SimulatedOperation:
    """Books what is asked about `payment`, once for each reference; an impossible one as refused."""
    while True:
        row = new_operation(kind, operation, payment)
        try:
            execute_writes_in_savepoint(Insert(row), *_move(row, payment))
        except StaleRow:
            # Something else was booked about it meanwhile.
            payment.refresh_from_db()
        except IntegrityError:
            booked = find_operation(operation.reference)
            if booked is None:
                raise
            return booked
        else:
            return row


def new_operation(kind: str, operation: Operation, payment: SimulatedPayment) -> SimulatedOperation:
    """Return the unsaved row of an operation that is possible: its state, and what it becomes by itself and when."""
    refunded = REFUND_STATES[Refunds(payment.refunds)]
    state, settles_as = refunded if kind == Operation.Kind.REFUND else (State.SUCCEEDED, "")
    delay = timedelta(seconds=settings.SIMULATOR_REFUND_DELAY_SECONDS)
    return SimulatedOperation(
        reference=operation.reference,
        payment=payment,
        kind=kind,
        amount=operation.amount,
        hold_days=operation.hold_days,
        state=state,
        settles_as=settles_as,
        settles_at=clock.now() + delay if settles_as else None,
    )


def settle_due_refunds(limit: int, among: Collection[str] | None = None) -> None:
    """Brings up to `limit` refunds, all or those of the references `among`, to the end that their card is known for."""
    due = SimulatedOperation.objects.filter(settles_at__lte=clock.now())
    due = due if among is None else due.filter(reference__in=among)
    for operation in due.order_by("settles_at")[:limit]:
        _settle_if_due(operation)


def _move(operation: SimulatedOperation, payment: SimulatedPayment) -> list[Write]:
    """Return the writes that move the locked payment; a refused operation has none."""
    move = MOVES[Operation.Kind(operation.kind)](operation, payment)
    if move is None:
        operation.state, operation.settles_at, operation.settles_as = State.REFUSED, None, ""
        return []
    expected = {name: getattr(payment, name) for name in ("id", *MOVED)}
    entered = entries(operation, move)
    return [Update(SimulatedPayment, expected, move.changes), *([BulkInsert(entered)] if entered else [])]


def entries(operation: SimulatedOperation, move: Move) -> list[Entry]:
    """Build the unsaved entries of an operation's move."""
    of_whom = {"payment_id": operation.payment_id, "reference": operation.reference}
    return [Entry(**of_whom, kind=kind, amount=amount) for kind, amount in move.moved if amount]


def _capture(operation: SimulatedOperation, payment: SimulatedPayment) -> Move | None:
    if payment.state != PaymentState.HELD or operation.amount > payment.amount:
        return None
    left = payment.amount - operation.amount
    return Move(
        {"state": PaymentState.CAPTURED, "amount_captured": operation.amount, "dispute_due_at": first_due_at(payment)},
        ((Entry.Kind.CAPTURE, operation.amount), (Entry.Kind.RELEASE, left)),
    )


def _cancel(_: SimulatedOperation, payment: SimulatedPayment) -> Move | None:
    return Move({"state": PaymentState.CANCELLED}) if payment.state == PaymentState.AWAITING else None


def _void(_: SimulatedOperation, payment: SimulatedPayment) -> Move | None:
    voided = {"state": PaymentState.VOIDED}
    if payment.state == PaymentState.HELD:
        return Move(voided, ((Entry.Kind.RELEASE, payment.amount),))
    if payment.state == PaymentState.CAPTURED and not payment.amount_refunded and not payment.amount_disputed:
        return Move(voided, ((Entry.Kind.VOID, payment.amount_captured),))
    return None


def _refund(operation: SimulatedOperation, payment: SimulatedPayment) -> Move | None:
    amount_refunded = payment.amount_refunded + operation.amount
    if payment.state != PaymentState.CAPTURED or amount_refunded > payment.amount_captured - payment.amount_disputed:
        return None
    return Move({"amount_refunded": amount_refunded}, ((Entry.Kind.REFUND, operation.amount),))


def _extend(operation: SimulatedOperation, payment: SimulatedPayment) -> Move | None:
    extended_days = payment.extended_days + operation.hold_days
    if payment.state != PaymentState.HELD or extended_days > EXTENDED_DAYS_MAX:
        return None
    return Move({"extended_days": extended_days})


MOVES = {
    Operation.Kind.CAPTURE: _capture,
    Operation.Kind.VOID: _void,
    Operation.Kind.CANCEL: _cancel,
    Operation.Kind.REFUND: _refund,
    Operation.Kind.EXTEND: _extend,
}


def _settle_if_due(operation: SimulatedOperation) -> SimulatedOperation:
    if not operation.settles_at or operation.settles_at > clock.now():
        return operation
    with transaction.atomic():
        unsettled = SimulatedOperation.objects.filter(id=operation.id, settles_at__isnull=False)
        settled = unsettled.update(state=operation.settles_as, settles_as="", settles_at=None) == 1
        operation.refresh_from_db()
        if settled and operation.state == State.FAILED:
            rows = SimulatedPayment.objects.filter(id=operation.payment_id)
            # Django takes a bare number for one of 32 bits and cuts it off.
            rows.update(amount_refunded=F("amount_refunded") - Value(operation.amount, BigIntegerField()))
            Entry.objects.bulk_create(entries(operation, Move({}, ((Entry.Kind.REFUND_RETURNED, operation.amount),))))
        if settled:
            write_message(operation.reference, operation_outcome(operation))
    return operation
