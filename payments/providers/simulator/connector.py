"""The provider of test mode, which moves no money but keeps books as if it did."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from time import sleep

from django.conf import settings
from django.db.models import F

from payments import context, sourcetypes
from payments.providers.base import (
    Approved,
    Capabilities,
    Declined,
    NotFound,
    Operation,
    Outcome,
    Payment,
    PayoutOutcome,
    Unknown,
    WebhookEvent,
)
from payments.providers.disputes import DisputeResponse
from payments.providers.done_there import DoneThere
from payments.providers.payouts import Failed, PayoutOrder, Returned
from payments.providers.settlement_reports import SettlementLine
from payments.providers.simulator import disputes, messages, payouts, reports
from payments.providers.simulator.answers import asks_pin, operation_outcome, payment_outcome, refused
from payments.providers.simulator.books import book_payment, enter_pin, expire_due_pages, find_payment, new_payment
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment, SimulatedPayout
from payments.providers.simulator.operations import book_operation, find_operation, settle_due_refunds
from payments.providers.simulator.scenarios import NO_CARD, ORDINARY, PLAIN_DECLINE, Lost, scenario_of

# By how many days a hold is extended at once, as often as the books allow.
EXTENSION_DAYS = 7
# What waits for time in the books.
AWAITING = SimulatedPayment.objects.filter(state=SimulatedPayment.State.AWAITING)
DISPUTED = SimulatedPayment.objects.filter(dispute_due_at__isnull=False)
CHANGING = SimulatedOperation.objects.filter(settles_at__isnull=False)
PAYING = SimulatedPayout.objects.filter(due_at__isnull=False)


class Simulator:
    """A `Provider` that behaves as the card number says, and asks other payers on pages of its own."""

    name = "simulator"
    timeout_seconds = 10

    def capabilities(self, source_type: str) -> Capabilities | None:
        if source_type not in sourcetypes.BY_NAME:
            return None
        is_card = source_type == sourcetypes.CARD
        days = EXTENSION_DAYS if is_card else 0
        return Capabilities(hold=is_card, hold_extension_days=days, zero_amount=is_card)

    def create_payment(self, payment: Payment) -> Outcome:
        _take_time()
        is_card = payment.source_type == sourcetypes.CARD
        if not payment.capture and not is_card:
            return refused("hold_not_supported", "Only a card can be held.")
        scenario = scenario_of(payment.card) if is_card else ORDINARY
        if scenario.lost is Lost.REQUEST:
            return Unknown("the request was lost")
        known = find_payment(payment.reference) if scenario.lost else None
        booked = known or book_payment(payment, scenario)
        return Unknown("the answer was lost") if scenario.lost and not known else payment_outcome(booked)

    def plain_decline(self, payment: Payment) -> Declined:
        _take_time()
        scenario = PLAIN_DECLINE if payment.source_type == sourcetypes.CARD else NO_CARD
        outcome = payment_outcome(new_payment(payment, scenario))
        assert isinstance(outcome, Declined)  # nosec B101 # for the type checker: the scenario declines
        return outcome

    def continue_payment(self, payment: Payment, params: Mapping[str, str]) -> Outcome:
        booked = find_payment(payment.reference)
        if booked is None:
            return NotFound()
        if "otp" in params and asks_pin(booked):
            enter_pin(booked, params["otp"], send_message=False)
        return payment_outcome(booked)

    def capture(self, operation: Operation) -> Outcome:
        return self._operate("capture", operation)

    def void(self, operation: Operation) -> Outcome:
        return self._operate("void", operation)

    def cancel(self, operation: Operation) -> Outcome:
        return self._operate("cancel", operation)

    def refund(self, operation: Operation) -> Outcome:
        return self._operate("refund", operation)

    def extend(self, operation: Operation) -> Outcome:
        return self._operate("extend", operation)

    def _operate(self, kind: str, operation: Operation) -> Outcome:
        _take_time()
        payment = find_payment(operation.payment_reference)
        if payment is None:
            return refused("payment_not_found", "There is no such payment.")
        return operation_outcome(book_operation(kind, operation, payment))

    def respond(self, asked: DisputeResponse) -> Outcome:
        _take_time()
        return disputes.respond(asked, find_payment(asked.payment_reference))

    def create_payout(self, order: PayoutOrder) -> PayoutOutcome:
        _take_time()
        return payouts.create(order)

    def find_payout(self, order: PayoutOrder) -> PayoutOutcome:
        return payouts.find(order)

    def refuse_payout(self, reference: str) -> Failed | Returned:
        """Have the bank refuse a payout that it has, or return it; return how it stands."""
        return payouts.refuse(reference)

    def resolve(self, asked: Payment | Operation) -> Outcome:
        if isinstance(asked, Payment):
            payment = find_payment(asked.reference)
            return payment_outcome(payment) if payment else NotFound()
        operation = find_operation(asked.reference)
        return operation_outcome(operation) if operation else NotFound()

    def read_webhook(self, headers: Mapping[str, str], body: bytes) -> list[WebhookEvent]:
        return [messages.read(headers, body)]

    def test_credentials(self) -> Outcome:
        return Approved("")

    def settlement_lines(self, since: datetime | None, until: datetime) -> Iterator[SettlementLine]:
        return reports.settlement_lines(since, until)

    def done_between(self, since: datetime, until: datetime) -> Iterator[DoneThere]:
        return reports.done_between(since, until)

    def due_events(self, limit: int, among: Collection[str] | None = None) -> list[WebhookEvent]:
        """Return up to `limit` due events, each repeated until it is acknowledged.

        With `among`, only those that happened to what we call by these references.
        """
        settle_due_refunds(limit, among)
        expire_due_pages(limit, among)
        disputes.advance_due(limit, among)
        payouts.advance_due(limit, among)
        return [self._open(message.pk, message.body.encode()) for message in messages.claim(limit, among)]

    def _open(self, message_id: int, body: bytes) -> WebhookEvent:
        [event] = self.read_webhook(messages.sign(body), body)
        return replace(event, key=str(message_id))

    def acknowledge(self, event: WebhookEvent) -> None:
        """Acknowledge the message of a recorded event; harmless when repeated."""
        messages.acknowledge(int(event.key))

    def waiting(self) -> set[str]:
        """Return our references of everything that will change with time or has an unsent message."""
        later = [rows.values_list("reference", flat=True) for rows in (DISPUTED, CHANGING, PAYING)]
        booked = AWAITING.values_list("reference", flat=True).union(*later)
        return {*booked, *messages.unacknowledged_references()}

    def bring_nearer(self, references: Collection[str], by: timedelta) -> None:
        """Let `by` pass for what waits under one of `references`."""
        # Refunds before payments, as when one ends.
        CHANGING.filter(reference__in=references).update(settles_at=F("settles_at") - by)
        AWAITING.filter(reference__in=references).update(expires_at=F("expires_at") - by)
        DISPUTED.filter(reference__in=references).update(dispute_due_at=F("dispute_due_at") - by)
        PAYING.filter(reference__in=references).update(due_at=F("due_at") - by)
        messages.unacknowledged(references).update(due_at=F("due_at") - by)


def _take_time() -> None:
    if settings.SIMULATOR_LATENCY_SECONDS:
        context.begin_wait()
        sleep(settings.SIMULATOR_LATENCY_SECONDS)
