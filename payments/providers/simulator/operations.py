"""The simulator's bookings of captures, voids and refunds."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F

from payments import clock
from payments.providers.base import Operation
from payments.providers.simulator.answers import operation_outcome
from payments.providers.simulator.messages import write_message
from payments.providers.simulator.models import Entry, SimulatedOperation, SimulatedPayment
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
    """Books a capture, void or refund of `payment`, once for each reference; an impossible one as refused."""
    with transaction.atomic():
        row, is_new = SimulatedOperation.objects.get_or_create(
            reference=operation.reference,
            defaults={
                "payment": payment,
                "kind": kind,
                "amount": operation.amount,
                **_beginning(kind, payment),
            },
        )
        if is_new and not _move(kind, payment, operation.amount):
            row.state, row.settles_at, row.settles_as = State.REFUSED, None, ""
            row.save()
    return row if is_new else _settle_if_due(row)


def settle_due_refunds(limit: int) -> None:
    """Brings up to `limit` refunds to the end that their card is known for."""
    due = SimulatedOperation.objects.filter(settles_at__lte=clock.now()).order_by("settles_at")
    for operation in due[:limit]:
        _settle_if_due(operation)


def _beginning(kind: str, payment: SimulatedPayment) -> dict[str, str | datetime | None]:
    state, settles_as = REFUND_STATES[Refunds(payment.refunds)] if kind == "refund" else (State.SUCCEEDED, "")
    delay = timedelta(seconds=settings.SIMULATOR_REFUND_DELAY_SECONDS)
    return {
        "state": state,
        "settles_as": settles_as,
        "settles_at": clock.now() + delay if settles_as else None,
    }


def _move(kind: str, payment: SimulatedPayment, amount: int) -> bool:
    """Whether the payment was in a state for it, and it was done."""
    if kind == "void":
        return _void(payment)
    return _capture(payment, amount) if kind == "capture" else _refund(payment, amount)


def _capture(payment: SimulatedPayment, amount: int) -> bool:
    held = SimulatedPayment.objects.filter(id=payment.id, state=PaymentState.HELD, amount__gte=amount)
    taken = held.update(state=PaymentState.CAPTURED, amount_captured=amount) == 1
    if taken:
        _enter(payment, Entry.Kind.CAPTURE, amount)
        _enter(payment, Entry.Kind.RELEASE, payment.amount - amount)
    return taken


def _void(payment: SimulatedPayment) -> bool:
    rows = SimulatedPayment.objects.filter(id=payment.id)
    if rows.filter(state=PaymentState.AWAITING).update(state=PaymentState.CANCELLED):
        return True
    if rows.filter(state=PaymentState.HELD).update(state=PaymentState.VOIDED):
        _enter(payment, Entry.Kind.RELEASE, payment.amount)
        return True
    captured = rows.filter(state=PaymentState.CAPTURED, amount_refunded=0)
    if captured.update(state=PaymentState.VOIDED):
        payment.refresh_from_db()
        _enter(payment, Entry.Kind.VOID, payment.amount_captured)
        return True
    return False


def _refund(payment: SimulatedPayment, amount: int) -> bool:
    captured = SimulatedPayment.objects.filter(id=payment.id, state=PaymentState.CAPTURED)
    enough = captured.filter(amount_captured__gte=F("amount_refunded") + amount)
    given_back = enough.update(amount_refunded=F("amount_refunded") + amount) == 1
    if given_back:
        _enter(payment, Entry.Kind.REFUND, amount)
    return given_back


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
        rows.update(amount_refunded=F("amount_refunded") - operation.amount)
        _enter(operation.payment, Entry.Kind.REFUND_RETURNED, operation.amount)


def _enter(payment: SimulatedPayment, kind: str, amount: int) -> None:
    if amount:
        Entry.objects.create(payment=payment, kind=kind, amount=amount)
