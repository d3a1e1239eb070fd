"""What is done with a payment that was taken or is held: the same at every provider."""

import pytest

from payments.providers.base import Approved, Declined, Operation, Payment, Rejected
from tests.providers.bench import AMOUNT, Bench, Money, operated, operation, taken


def test_a_hold_is_captured(bench: Bench) -> None:
    payment = taken(bench, capture=False)
    assert isinstance(operated(bench, operation("capture", payment)), Approved)
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_of_a_hold_a_part_is_captured_and_the_rest_released(bench: Bench) -> None:
    payment = taken(bench, capture=False)
    assert isinstance(operated(bench, operation("capture", payment, 6_000)), Approved)
    assert bench.money(payment) == Money(taken=6_000)


def test_a_hold_is_released(bench: Bench) -> None:
    payment = taken(bench, capture=False)
    assert isinstance(operated(bench, operation("void", payment)), Approved)
    assert bench.money(payment) == Money()


def test_what_was_released_is_not_captured(bench: Bench) -> None:
    payment = taken(bench, capture=False)
    operated(bench, operation("void", payment))
    assert isinstance(operated(bench, operation("capture", payment)), Declined | Rejected)
    assert bench.money(payment) == Money()


@pytest.mark.long
def test_what_was_taken_is_given_back_by_a_void_where_the_provider_can(bench: Bench) -> None:
    payment = taken(bench)
    capabilities = bench.connector.capabilities("card")
    assert capabilities is not None
    outcome = operated(bench, operation("void", payment))
    assert isinstance(outcome, Approved) == capabilities.void_captured
    assert bench.money(payment).returned == (AMOUNT if capabilities.void_captured else 0)


@pytest.mark.parametrize("amount", [AMOUNT, 4_000])
def test_what_was_taken_is_refunded_in_part_or_whole(bench: Bench, amount: int) -> None:
    payment = taken(bench)
    assert isinstance(operated(bench, refund(payment, amount)), Approved)
    assert bench.money(payment) == Money(taken=AMOUNT, returned=amount)


def test_a_payment_is_refunded_bit_by_bit(bench: Bench) -> None:
    payment = taken(bench)
    outcomes = [operated(bench, refund(payment, amount)) for amount in (3_000, 7_000)]
    assert all(isinstance(outcome, Approved) for outcome in outcomes)
    assert bench.money(payment) == Money(taken=AMOUNT, returned=AMOUNT)


def test_more_than_was_taken_is_not_refunded(bench: Bench) -> None:
    payment = taken(bench)
    operated(bench, refund(payment, 6_000))
    assert isinstance(operated(bench, refund(payment, 6_000)), Declined | Rejected)
    assert bench.money(payment).returned == 6_000


def test_a_refund_asked_for_twice_is_one_refund(bench: Bench) -> None:
    payment = taken(bench)
    asked_for = refund(payment, 4_000)
    operated(bench, asked_for)
    assert isinstance(operated(bench, asked_for), Approved)
    assert bench.money(payment).returned == 4_000


def test_a_hold_is_extended_only_where_the_provider_can(bench: Bench) -> None:
    payment = taken(bench, capture=False)
    capabilities = bench.connector.capabilities("card")
    assert capabilities is not None
    days = capabilities.hold_extension_days
    outcome = operated(bench, operation("extend", payment, hold_days=days or 7))
    assert isinstance(outcome, Approved) == bool(days)


def refund(payment: Payment, amount: int) -> Operation:
    """Return a new refund of `amount`."""
    return operation("refund", payment, amount, reason="requested_by_customer")
