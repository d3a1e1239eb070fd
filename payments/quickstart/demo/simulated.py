"""The simulator's books of one payment, as rows in memory."""

from datetime import timedelta

from payments import clock
from payments.models import Attempt
from payments.providers.base import Outcome, Payment
from payments.providers.simulator.answers import operation_outcome, payment_outcome
from payments.providers.simulator.books import approval_entries, approved, new_payment
from payments.providers.simulator.messages import CLAIM_SECONDS, message_of
from payments.providers.simulator.models import Entry, SimulatedOperation, SimulatedPayment
from payments.providers.simulator.operations import beginning
from payments.providers.simulator.scenarios import ORDINARY, scenario_of
from payments.quickstart.demo.rows import Rows, change

State, Kind = SimulatedPayment.State, Entry.Kind


class Book:
    """One payment as the simulator knows it; whatever is asked of it must be possible."""

    def __init__(self, payment: Payment, rows: Rows) -> None:
        self._rows = rows
        self.payment = new_payment(payment, scenario_of(payment.card) if payment.card else ORDINARY)
        rows.add(self.payment)
        self._enter_approval()

    @property
    def outcome(self) -> Outcome:
        """How the question of this payment was answered."""
        return payment_outcome(self.payment)

    def approve(self) -> None:
        """The payer agreed on the simulator's page."""
        self._approve()
        self._tell(self.payment.reference, self.outcome)

    def take_pin(self) -> None:
        """The payer gave the right one-time PIN through us."""
        self.payment.pin_tries += 1
        self._approve()

    def decline(self, code: str) -> None:
        """The payer refused, or let the time pass."""
        change(self.payment, {"state": State.DECLINED, "decline_code": code})
        self._tell(self.payment.reference, self.outcome)

    def operate(self, attempt: Attempt, ends_after: timedelta) -> SimulatedOperation:
        """Does what `attempt` asks; a refund that changes by itself does so after `ends_after`."""
        kind = ASKED_AS.get(attempt.kind, attempt.kind)
        start = beginning(kind, self.payment) | {"hold_days": attempt.hold_days or 0}
        operation = SimulatedOperation(
            reference=attempt.reference,
            payment=self.payment,
            kind=kind,
            amount=attempt.amount,
            **start,
        )
        if operation.settles_at:
            operation.settles_at = operation.created_at + ends_after
        self._rows.add(operation)
        MOVES[kind](self, operation)
        return operation

    def end(self, operation: SimulatedOperation) -> Outcome:
        """A refund comes to the end that its card is known for."""
        change(operation, {"state": operation.settles_as, "settles_as": "", "settles_at": None})
        if operation.state == SimulatedOperation.State.FAILED:
            self.payment.amount_refunded -= operation.amount
            self._enter(operation, Kind.REFUND_RETURNED, operation.amount)
        self._tell(operation.reference, outcome := operation_outcome(operation))
        return outcome

    def capture(self, operation: SimulatedOperation) -> None:
        change(self.payment, {"state": State.CAPTURED, "amount_captured": operation.amount})
        self._enter(operation, Kind.CAPTURE, operation.amount)
        self._enter(operation, Kind.RELEASE, self.payment.amount - operation.amount)

    def void(self, operation: SimulatedOperation) -> None:
        held = self.payment.state == State.HELD
        self.payment.state = State.VOIDED
        self._enter(operation, Kind.RELEASE if held else Kind.VOID, operation.amount)

    def refund(self, operation: SimulatedOperation) -> None:
        self.payment.amount_refunded += operation.amount
        self._enter(operation, Kind.REFUND, operation.amount)

    def extend(self, operation: SimulatedOperation) -> None:
        self.payment.extended_days += operation.hold_days

    def _approve(self) -> None:
        self.payment.state, self.payment.amount_captured = approved(self.payment)
        self._enter_approval()

    def _enter_approval(self) -> None:
        self._rows.add(*approval_entries(self.payment))

    def _enter(self, operation: SimulatedOperation, kind: str, amount: int) -> None:
        if amount:
            self._rows.add(Entry(payment=self.payment, reference=operation.reference, kind=kind, amount=amount))

    def _tell(self, reference: str, outcome: Outcome) -> None:
        message = message_of(reference, outcome)
        message.delivered_at = clock.now()
        message.due_at = message.delivered_at + timedelta(seconds=CLAIM_SECONDS)
        self._rows.add(message)


# Money that came late goes back by a void.
ASKED_AS = {"reverse": "void"}
MOVES = {"capture": Book.capture, "void": Book.void, "refund": Book.refund, "extend": Book.extend}
