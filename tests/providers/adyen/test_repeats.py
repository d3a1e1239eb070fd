"""A request whose answer never came: the same again as long as that is harmless, or an end to it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from payments import clock, ids
from payments.providers.base import (
    ActionRequired,
    Approved,
    Declined,
    NotFound,
    NotSent,
    Operation,
    Pending,
    Rejected,
    Unknown,
)
from tests.providers.adyen.bench import AdyenBench
from tests.providers.bench import AMOUNT, Money, Spoilt, asked, begun, noticed, operation, redirected, taken

HOUR, WEEK = timedelta(hours=1), timedelta(days=7)


def paths(bench: AdyenBench) -> list[str]:
    """Return the paths of the requests, in order."""
    return [each.path for each in bench.fake.requests]


def aged(named: Operation, by: timedelta) -> Operation:
    """Return the operation with a reference that is `by` older."""
    moment = clock.now() - by
    return replace(named, reference=f"{int(moment.timestamp() * 1000):012x}{named.reference[12:]}")


def test_the_same_question_shows_the_first_answer_and_takes_nothing_more(bench: AdyenBench) -> None:
    payment = asked(bench)
    first, again = bench.connector.create_payment(payment), bench.connector.resolve(payment)
    assert first == again
    assert bench.money(payment) == Money(taken=AMOUNT)


@pytest.mark.parametrize(
    "members", [{"card": None}, {"cvc": None}, {"asked_at": None}], ids=lambda members: next(iter(members))
)
def test_a_card_that_cannot_be_asked_for_in_the_same_words_is_ended(
    bench: AdyenBench, members: dict[str, None]
) -> None:
    payment = asked(bench, capture=False)
    bench.connector.create_payment(payment)
    changed = {"card": replace(payment.card, cvc=None)} if "cvc" in members else members
    assert isinstance(bench.connector.resolve(replace(payment, **changed)), Pending)
    bench.let_pass()
    assert isinstance(noticed(bench, payment), Declined)
    assert bench.money(payment) == Money()


def test_a_card_is_not_charged_anew_when_its_payer_has_gone(bench: AdyenBench) -> None:
    payment = asked(bench, asked_at=clock.now())
    with clock.at(payment.asked_at + HOUR):
        assert isinstance(bench.connector.resolve(payment), Pending)
    bench.let_pass()
    assert bench.money(payment) == Money()
    assert paths(bench) == ["/cancels"]


def test_a_card_of_which_adyen_never_reported_anything_is_given_up(bench: AdyenBench) -> None:
    payment = asked(bench, card=None, asked_at=clock.now() - WEEK)
    assert bench.connector.resolve(payment) == NotFound()
    assert isinstance(bench.connector.resolve(replace(payment, asked_at=clock.now() - timedelta(days=5))), Pending)
    assert isinstance(bench.connector.resolve(replace(payment, provider_ref="PSP1")), Pending)
    assert paths(bench) == ["/cancels"] * 3


def test_a_kept_card_is_asked_for_again_without_its_cvc(bench: AdyenBench) -> None:
    payment = asked(bench, payer_absent=True, network_reference="MCC1234560321")
    payment = replace(payment, card=replace(payment.card, cvc=None))
    assert isinstance(bench.connector.resolve(payment), Approved)


def test_a_payment_that_was_taken_is_not_ended_and_adyen_says_so(bench: AdyenBench) -> None:
    payment = taken(bench, asked_at=clock.now() - HOUR)
    assert isinstance(bench.connector.resolve(payment), Pending)
    bench.let_pass()
    assert isinstance(noticed(bench, payment), Approved)
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_a_page_is_asked_for_again_for_as_long_as_adyen_keeps_the_key(bench: AdyenBench) -> None:
    payment = begun(bench, redirected(bench, asked_at=clock.now() - timedelta(days=5)))
    assert isinstance(bench.connector.resolve(payment), ActionRequired)
    with clock.at(payment.asked_at + timedelta(days=6)):
        assert isinstance(bench.connector.resolve(payment), Pending)
    assert paths(bench) == ["/payments", "/payments", "/cancels"]


def test_what_adyen_received_is_waited_for(bench: AdyenBench) -> None:
    payment = taken(bench)
    refund = operation("refund", payment, 4_000)
    outcome = bench.connector.refund(refund)
    assert isinstance(outcome, Pending)
    asked_so_far = len(bench.fake.requests)
    assert bench.connector.resolve(replace(refund, provider_ref=outcome.provider_ref)) == outcome
    assert len(bench.fake.requests) == asked_so_far


@pytest.mark.parametrize("kind", ["refund", "void", "capture"])
def test_an_operation_is_asked_for_again_under_its_key(bench: AdyenBench, kind: str) -> None:
    payment = taken(bench, capture=kind != "capture")
    again = operation(kind, payment)
    first, second = bench.connector.resolve(again), bench.connector.resolve(again)
    assert isinstance(first, Pending)
    assert first == second
    bench.let_pass()
    assert isinstance(noticed(bench, again), Approved)


def test_a_refund_whose_key_adyen_may_have_forgotten_is_not_asked_for_again(bench: AdyenBench) -> None:
    payment = taken(bench)
    assert isinstance(bench.connector.resolve(aged(operation("refund", payment, 4_000), WEEK)), Unknown)
    bench.let_pass()
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_another_question_under_the_same_key_settles_nothing(bench: AdyenBench) -> None:
    payment = asked(bench)
    bench.connector.create_payment(payment)
    assert isinstance(bench.connector.create_payment(replace(payment, amount=20_000)), Unknown)
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_a_payer_who_brought_nothing_back_leaves_the_payment_waiting(bench: AdyenBench) -> None:
    payment = begun(bench, redirected(bench))
    assert isinstance(bench.connector.continue_payment(payment, {"status": "paid"}), NotSent)


def test_a_payer_who_comes_back_twice_sees_the_same(bench: AdyenBench) -> None:
    payment = begun(bench, asked(bench, card=bench.card(challenged=True), authenticate=True))
    params = bench.pay(payment)
    first = bench.connector.continue_payment(payment, params)
    assert first == bench.connector.continue_payment(payment, params)
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_what_a_payer_brings_of_another_payment_approves_nothing(bench: AdyenBench) -> None:
    cheap, dear = (begun(bench, redirected(bench, amount=amount)) for amount in (100, 1_000_000))
    assert isinstance(bench.connector.continue_payment(dear, bench.pay(cheap)), Pending)
    assert noticed(bench, dear) is None


def test_what_a_card_payer_brings_of_another_payment_is_not_believed(bench: AdyenBench) -> None:
    challenged = {"card": bench.card(challenged=True), "authenticate": True}
    cheap, dear = (begun(bench, asked(bench, amount=amount, **challenged)) for amount in (100, 1_000_000))
    assert isinstance(bench.connector.continue_payment(dear, bench.pay(cheap)), Unknown)


def test_an_end_whose_answer_is_lost_is_unknown_and_asked_for_again(bench: AdyenBench) -> None:
    payment = begun(bench, redirected(bench))
    end = operation("cancel", payment)
    bench.spoil_next(Spoilt.LOST)
    assert isinstance(bench.connector.cancel(end), Unknown)
    assert isinstance(bench.connector.resolve(end), Approved)


def test_a_refund_that_fails_afterwards_is_reported(bench: AdyenBench) -> None:
    payment = taken(bench)
    refund = operation("refund", payment, 4_000)
    bench.connector.refund(refund)
    bench.let_pass()
    booked = bench.fake.books.payments[payment.reference]
    bench.fake.books.fail_afterwards("REFUND_FAILED", booked, "refund", refund.reference, 4_000)
    assert isinstance(noticed(bench, refund), Declined)
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_a_hold_is_kept_no_longer_than_adyen_keeps_it(bench: AdyenBench) -> None:
    extension = operation("extend", taken(bench, capture=False), hold_days=7)
    assert isinstance(bench.connector.extend(extension), Rejected)
    assert isinstance(bench.connector.resolve(extension), Rejected)


def test_a_currency_that_adyen_counts_otherwise_is_not_asked_for(bench: AdyenBench) -> None:
    assert isinstance(bench.connector.create_payment(asked(bench, currency="IDR")), Rejected)
    assert not bench.fake.requests


def test_a_payment_that_adyen_never_named_cannot_be_worked_on(bench: AdyenBench) -> None:
    nameless = replace(asked(bench), provider_ref=ids.new_id().hex)
    assert isinstance(bench.connector.capture(operation("capture", nameless)), Rejected)
