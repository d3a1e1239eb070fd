"""Payouts: the same at every provider that makes them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol

import pytest

from payments import clock, ids
from payments.providers.abilities import PaysOut
from payments.providers.base import BadSignature, NotFound, PayoutOutcome, Unknown, WebhookEvent
from payments.providers.payouts import Accepted, Failed, Paid, PayoutOrder, Returned
from payments.providers.simulator.models import SimulatedPayout
from payments.providers.simulator.payouts import advance_due
from tests.providers.bench import AMOUNT, SignedMessage, Spoilt
from tests.providers.simulator.bench import SimulatorBench
from tests.providers.xendit.bench import XenditBench, xendit_bench

NUMBER = "000123456789"


class PayoutBench(Protocol):
    """A provider that pays out, real or fake, and what happens at it."""

    connector: Any

    def lose_next_answer(self) -> str:
        """Lose the answer to the next payout; return the number of the account that it must go to."""

    def lose_next_request(self) -> str:
        """Lose the next payout before it arrives; likewise."""

    def end(self, order: PayoutOrder, *how: type[PayoutOutcome]) -> None:
        """Let the bank do these things with a payout, one after another."""

    def webhooks(self) -> list[SignedMessage]:
        """Return the messages since the last call, oldest first."""

    def forge(self, webhook: SignedMessage) -> SignedMessage:
        """Return the message with a signature that is not the provider's."""

    def paid(self, order: PayoutOrder) -> list[int]:
        """Return the amounts of the provider's payouts of this reference."""


class AtSimulator(SimulatorBench):
    def lose_next_answer(self) -> str:
        return "000000000004"

    def lose_next_request(self) -> str:
        return "000000000005"

    def end(self, order: PayoutOrder, *how: type[PayoutOutcome]) -> None:
        last4 = {(Paid,): "9999", (Failed,): "0002", (Paid, Returned): "0003"}[how]
        booked = SimulatedPayout.objects.filter(reference=order.reference)
        booked.update(last4=last4, due_at=clock.now() - timedelta(days=len(how)))
        advance_due(1)

    def paid(self, order: PayoutOrder) -> list[int]:
        booked = SimulatedPayout.objects.filter(reference=order.reference).exclude(state="lost")
        return list(booked.values_list("amount", flat=True))


class AtXendit:
    STATUSES: dict[Any, str] = {Paid: "SUCCEEDED", Failed: "FAILED", Returned: "REVERSED"}

    def __init__(self, bench: XenditBench) -> None:
        self.bench, self.connector, self.forge = bench, bench.connector, bench.forge

    def lose_next_answer(self) -> str:
        self.bench.spoil_next(Spoilt.LOST)
        return NUMBER

    def lose_next_request(self) -> str:
        self.bench.spoil_next(Spoilt.DROPPED)
        return NUMBER

    def end(self, order: PayoutOrder, *how: type[PayoutOutcome]) -> None:
        for each in how:
            code = "INVALID_DESTINATION" if each is Failed else ""
            self.bench.fake.payouts.end(order.reference, self.STATUSES[each], code)

    def webhooks(self) -> list[SignedMessage]:
        return self.bench.payout_webhooks()

    def paid(self, order: PayoutOrder) -> list[int]:
        made = self.bench.fake.payouts.made.values()
        return [payout.amount for payout in made if payout.reference == order.reference]


@contextmanager
def at_simulator() -> Iterator[PayoutBench]:
    yield AtSimulator()


@contextmanager
def at_xendit() -> Iterator[PayoutBench]:
    with xendit_bench() as bench:
        yield AtXendit(bench)


BENCHES: dict[str, Callable[[], AbstractContextManager[PayoutBench]]] = {"simulator": at_simulator, "xendit": at_xendit}


@pytest.fixture(params=BENCHES)
def bench(request: pytest.FixtureRequest, db: None) -> Iterator[PayoutBench]:
    with BENCHES[request.param]() as made:
        yield made


def order(number: str = NUMBER, **members: Any) -> PayoutOrder:
    """Return a payout of PHP 100.00 to a bank account."""
    made = PayoutOrder(ids.new_id().hex, AMOUNT, "PHP", "BNORPHMM", "Sari Store", number, "Payout")
    return replace(made, **members)


def accepted(bench: PayoutBench) -> PayoutOrder:
    """Return a payout that the provider has, as it is looked up: with the provider's name of it, and no number."""
    asked = order()
    outcome = bench.connector.create_payout(asked)
    assert isinstance(outcome, Accepted), outcome
    return replace(asked, number="", holder="", provider_ref=outcome.provider_ref)


def events(bench: PayoutBench) -> list[WebhookEvent]:
    return [event for message in bench.webhooks() for event in bench.connector.read_webhook(*message)]


def test_it_pays_out(bench: PayoutBench) -> None:
    assert isinstance(bench.connector, PaysOut)


def test_a_payout_is_accepted_and_found(bench: PayoutBench) -> None:
    known = accepted(bench)
    assert bench.connector.find_payout(known) == Accepted(known.provider_ref)
    assert bench.connector.find_payout(replace(known, provider_ref="")) == Accepted(known.provider_ref)
    assert bench.paid(known) == [AMOUNT]


@pytest.mark.parametrize(
    ("how", "kind"),
    [((Paid,), Paid), ((Failed,), Failed), ((Paid, Returned), Returned)],
    ids=["paid", "failed", "return"],
)
def test_how_a_payout_ended_is_found(bench: PayoutBench, how: tuple[Any, ...], kind: type[PayoutOutcome]) -> None:
    known = accepted(bench)
    bench.end(known, *how)
    outcome = bench.connector.find_payout(known)
    assert isinstance(outcome, kind)
    assert outcome.provider_ref == known.provider_ref
    if isinstance(outcome, Failed):
        assert outcome.code == "account_refused"


def test_a_payout_whose_answer_is_lost_is_unknown_and_found(bench: PayoutBench) -> None:
    asked = order(bench.lose_next_answer())
    assert isinstance(bench.connector.create_payout(asked), Unknown)
    assert isinstance(bench.connector.find_payout(asked), Accepted)


def test_a_payout_that_never_arrived_is_not_found_and_made_by_the_same_reference(bench: PayoutBench) -> None:
    asked = order(bench.lose_next_request())
    assert isinstance(bench.connector.create_payout(asked), Unknown)
    assert isinstance(bench.connector.find_payout(asked), NotFound)
    assert isinstance(bench.connector.create_payout(asked), Accepted)
    assert bench.paid(asked) == [AMOUNT]


def test_a_payout_asked_for_twice_is_made_once(bench: PayoutBench) -> None:
    asked = order()
    assert bench.connector.create_payout(asked) == bench.connector.create_payout(asked)
    assert bench.paid(asked) == [AMOUNT]


def test_a_reference_that_nobody_asked_for_is_not_found(bench: PayoutBench) -> None:
    assert isinstance(bench.connector.find_payout(order()), NotFound)


def test_a_webhook_names_its_payout_and_says_nothing_of_its_outcome(bench: PayoutBench) -> None:
    known = accepted(bench)
    bench.end(known, Paid, Returned)
    announced = events(bench)
    assert [(event.reference, event.outcome) for event in announced] == [(known.reference, None)] * 2
    assert {(event.amount, event.currency) for event in announced} <= {(AMOUNT, "PHP"), (None, "")}


def test_a_webhook_that_somebody_else_sent_is_not_read(bench: PayoutBench) -> None:
    known = accepted(bench)
    bench.end(known, Paid)
    [message] = bench.webhooks()
    with pytest.raises(BadSignature):
        bench.connector.read_webhook(*bench.forge(message))


def test_no_repr_shows_the_account() -> None:
    assert NUMBER not in repr(order())
    assert "Sari Store" not in repr(order())


def test_a_providers_own_code_keeps_no_card_number() -> None:
    assert "4242" not in Failed("provider_refused", provider_code="DECLINED 4242424242424242").provider_code
