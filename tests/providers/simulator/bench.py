"""The simulator at the shared contract suite."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from payments import clock
from payments.ids import public_id
from payments.providers.base import CardData, Operation, Outcome, Payment, Unknown
from payments.providers.disputes import DisputeResponse
from payments.providers.simulator import disputes, messages
from payments.providers.simulator.books import approve, decline, expire_due_pages, find_payment
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.messages import SIGNATURE_HEADER
from payments.providers.simulator.models import Entry, SimulatedPayment
from payments.providers.simulator.operations import settle_due_refunds
from payments.providers.simulator.scenarios import Story, declined_with
from tests.providers.bench import CARD, Money, SignedMessage, Spoilt

CHALLENGED = "4242424242424242"
ALL = 100


class ForgetfulSimulator(Simulator):
    """Does what it is asked, and the next answer never arrives where it is set so."""

    def __init__(self) -> None:
        self.loses_next = False

    def create_payment(self, payment: Payment) -> Outcome:
        return self._answered(super().create_payment(payment))

    def respond(self, asked: DisputeResponse) -> Outcome:
        return self._answered(super().respond(asked))

    def _operate(self, kind: str, operation: Operation) -> Outcome:
        return self._answered(super()._operate(kind, operation))

    def _answered(self, outcome: Outcome) -> Outcome:
        is_lost, self.loses_next = self.loses_next, False
        return Unknown("the answer was lost") if is_lost else outcome


class SimulatorBench:
    """The `Bench` of the simulator, whose books are tables of ours."""

    redirect_type = "gcash"

    def __init__(self) -> None:
        self.connector = ForgetfulSimulator()

    def card(self, declined: str = "", *, challenged: bool = False) -> CardData:
        if challenged:
            return replace(CARD, number=CHALLENGED)
        return replace(CARD, number=declined_with(declined)) if declined else CARD

    def pay(self, payment: Payment) -> Mapping[str, str]:
        approve(_booked(payment), send_message=True)
        return {}

    def refuse(self, payment: Payment) -> Mapping[str, str]:
        decline(_booked(payment), "payer_cancelled", send_message=True)
        return {}

    def run_out(self, payment: Payment) -> None:
        self.connector.bring_nearer([payment.reference], timedelta(hours=2))
        expire_due_pages(ALL)

    def let_pass(self) -> None:
        settle_due_refunds(ALL)

    def dispute(self, payment: Payment, story: Story) -> None:
        booked = SimulatedPayment.objects.filter(reference=payment.reference)
        booked.update(story=story)
        for _ in disputes.STORIES[story]:
            booked.update(dispute_due_at=clock.now())
            disputes.advance_due(ALL)

    def begin_dispute(self, payment: Payment) -> str:
        """Take the money back as the payer's bank. Return the dispute's reference."""
        SimulatedPayment.objects.filter(reference=payment.reference).update(
            story=Story.AT_ONCE, dispute_due_at=clock.now()
        )
        disputes.advance_due(ALL)
        return public_id("sd", _booked(payment).id)

    def responses(self, payment: Payment) -> list[str]:
        """Return the responses that the simulator has about a payment's dispute."""
        response = _booked(payment).dispute_response
        return ["accept" if response == "accept" else "evidence"] if response else []

    def webhooks(self) -> list[SignedMessage]:
        announced = messages.claim(ALL)
        for message in announced:
            messages.acknowledge(message.pk)
        return [(messages.sign(message.body.encode()), message.body.encode()) for message in announced]

    def forge(self, webhook: SignedMessage) -> SignedMessage:
        return {SIGNATURE_HEADER: "0" * 64}, webhook[1]

    def spoil_next(self, how: Spoilt) -> None:
        assert how is Spoilt.LOST
        self.connector.loses_next = True

    def money(self, payment: Payment) -> Money:
        entries = list(Entry.objects.filter(payment__reference=payment.reference))
        return Money(
            held=_sum(entries, Entry.Kind.HOLD) - _released(entries),
            taken=_sum(entries, Entry.Kind.CAPTURE),
            returned=_sum(entries, Entry.Kind.VOID, Entry.Kind.REFUND) - _sum(entries, Entry.Kind.REFUND_RETURNED),
        )


def _released(entries: list[Entry]) -> int:
    """Return the amount of a hold that was captured or released."""
    is_hold = any(entry.kind == Entry.Kind.HOLD for entry in entries)
    return _sum(entries, Entry.Kind.RELEASE, Entry.Kind.CAPTURE) if is_hold else 0


def _sum(entries: list[Entry], *kinds: str) -> int:
    return sum(entry.amount for entry in entries if entry.kind in kinds)


def _booked(payment: Payment) -> SimulatedPayment:
    booked = find_payment(payment.reference)
    assert booked is not None
    return booked


@contextmanager
def simulator_bench() -> Iterator[SimulatorBench]:
    """Yield the simulator's bench, on the tables of the test."""
    yield SimulatorBench()
