"""Answers that never arrived: nothing is guessed, nothing is done twice, all is found. The same at every provider."""

from dataclasses import replace

import pytest

from payments.providers.base import ActionRequired, Approved, NotSent, Unknown
from tests.providers.bench import AMOUNT, Bench, Money, Spoilt, asked, begun, operation, redirected, settled, taken

# The provider did what it was asked, and its answer does not show it.
AMBIGUOUS = (Spoilt.LOST, Spoilt.CUT, Spoilt.GARBLED, Spoilt.FAILING)


@pytest.mark.parametrize("capture", [True, False])
def test_a_payment_whose_answer_is_lost_is_found(bench: Bench, capture: bool) -> None:
    payment = asked(bench, capture=capture)
    bench.spoil_next(Spoilt.LOST)
    outcome = bench.connector.create_payment(payment)
    assert isinstance(outcome, Unknown)
    outcome = settled(bench, payment, outcome)
    assert isinstance(outcome, Approved)
    assert outcome.captured == capture
    assert bench.money(payment) == (Money(taken=AMOUNT) if capture else Money(held=AMOUNT))


def test_a_page_whose_address_is_lost_is_asked_for_again(bench: Bench) -> None:
    payment = redirected(bench)
    bench.spoil_next(Spoilt.LOST)
    assert isinstance(bench.connector.create_payment(payment), Unknown)
    outcome = bench.connector.resolve(payment)
    assert isinstance(outcome, ActionRequired)
    known = replace(payment, provider_ref=outcome.provider_ref)
    params = bench.pay(known)
    assert isinstance(settled(bench, known, bench.connector.continue_payment(known, params)), Approved)
    assert bench.money(payment) == Money(taken=AMOUNT)


@pytest.mark.parametrize("kind", ["capture", "void"])
def test_what_was_done_with_a_hold_is_found_when_its_answer_is_lost(bench: Bench, kind: str) -> None:
    payment = taken(bench, capture=False)
    asked_for = operation(kind, payment)
    bench.spoil_next(Spoilt.LOST)
    outcome = getattr(bench.connector, kind)(asked_for)
    assert isinstance(outcome, Unknown)
    assert isinstance(settled(bench, asked_for, outcome), Approved)
    assert bench.money(payment) == (Money(taken=AMOUNT) if kind == "capture" else Money())


def test_a_refund_whose_answer_is_lost_is_found_and_made_once(bench: Bench) -> None:
    payment = taken(bench)
    asked_for = operation("refund", payment, 4_000, reason="requested_by_customer")
    bench.spoil_next(Spoilt.LOST)
    outcome = bench.connector.refund(asked_for)
    assert isinstance(outcome, Unknown)
    assert isinstance(settled(bench, asked_for, outcome), Approved)
    assert bench.money(payment) == Money(taken=AMOUNT, returned=4_000)


@pytest.mark.parametrize("how", AMBIGUOUS)
def test_an_answer_that_cannot_be_read_is_unknown_and_found(wire_bench: Bench, how: Spoilt) -> None:
    payment = asked(wire_bench)
    wire_bench.spoil_next(how)
    outcome = wire_bench.connector.create_payment(payment)
    assert isinstance(outcome, Unknown)
    assert isinstance(settled(wire_bench, payment, outcome), Approved)
    assert wire_bench.money(payment) == Money(taken=AMOUNT)


def test_an_answer_about_another_amount_is_unknown(wire_bench: Bench) -> None:
    wire_bench.spoil_next(Spoilt.OTHER_AMOUNT)
    outcome = wire_bench.connector.create_payment(asked(wire_bench))
    assert isinstance(outcome, Unknown)


def test_a_provider_that_has_no_time_was_not_asked(wire_bench: Bench) -> None:
    payment = asked(wire_bench)
    wire_bench.spoil_next(Spoilt.BUSY)
    assert isinstance(wire_bench.connector.create_payment(payment), NotSent)
    assert wire_bench.money(payment) == Money()


def test_a_lookup_that_gets_no_answer_settles_nothing(wire_bench: Bench) -> None:
    payment = begun(wire_bench, redirected(wire_bench))
    wire_bench.spoil_next(Spoilt.DOWN)
    assert isinstance(wire_bench.connector.resolve(payment), Unknown)
