"""The one-time PIN of a debit."""

import re

import pytest

from payments.providers.base import ActionRequired, Approved, Declined, Payment
from payments.providers.simulator.models import Message
from tests.simulator.factories import by_type, simulator

pytestmark = pytest.mark.django_db
NAME_SAFE = r"[A-Za-z0-9\s'#_.\-,]{5,255}"


@pytest.fixture(params=["bpi", "unionbank"])
def debit(request: pytest.FixtureRequest) -> Payment:
    """Return a debit that waits for its PIN."""
    asked = by_type(request.param)
    simulator.create_payment(asked)
    return asked


def enter(debit: Payment, pin: str) -> object:
    return simulator.continue_payment(debit, {"otp": pin})


def test_the_right_pin_takes_the_money(debit: Payment) -> None:
    outcome = enter(debit, "123456")
    assert isinstance(outcome, Approved)
    assert outcome.captured
    assert simulator.resolve(debit) == outcome


def test_the_confirmation_is_named_as_the_contract_allows(debit: Payment) -> None:
    outcome = simulator.resolve(debit)
    assert isinstance(outcome, ActionRequired)
    assert re.fullmatch(NAME_SAFE, outcome.confirmation_id)


def test_a_wrong_pin_may_be_followed_by_the_right_one(debit: Payment) -> None:
    asked_again = enter(debit, "000000")
    assert asked_again == simulator.resolve(debit)
    assert isinstance(asked_again, ActionRequired)
    enter(debit, "111111")
    assert isinstance(enter(debit, "123456"), Approved)


def test_the_third_wrong_pin_ends_it(debit: Payment) -> None:
    enter(debit, "000000")
    enter(debit, "12345")
    outcome = enter(debit, "１２３４５６")
    assert isinstance(outcome, Declined)
    assert outcome.code == "authentication_failed"
    assert enter(debit, "123456") == outcome


def test_a_pin_that_came_by_the_api_is_not_reported_again(debit: Payment) -> None:
    enter(debit, "123456")
    assert not Message.objects.exists()
