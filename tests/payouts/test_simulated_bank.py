"""The simulated bank of test mode, by the last digits of the account's number."""

from collections.abc import Callable

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, send
from payments.domain.payouts.send import ABSENT_TRIES
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.models import Payout
from payments.providers.simulator.models import Message, SimulatedPayout
from tests.client import Api
from tests.payouts.at_xendit import again
from tests.payouts.stories import bank_acts, days_pass, give_account, give_schedule, settled

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fees")]

NET = 10_000 - 365
ANSWER_LOST, NEVER_ARRIVES, SILENT = "000000000004", "000000000005", "000000000006"
Begin = Callable[[str], Payout]


@pytest.fixture
def begin(api: Api, shop: NewMerchant) -> Begin:
    """Make a payout to an account with this number, and send it."""

    def run(number: str) -> Payout:
        settled(api)
        give_account(shop.merchant, number)
        make.make_now(give_schedule(shop.merchant).id)
        send.send_due()
        return Payout.objects.get()

    return run


def test_the_bank_has_books_of_its_own(begin: Begin) -> None:
    payout = begin("000000000009")
    booked = SimulatedPayout.objects.get()
    assert (booked.reference, booked.amount, booked.currency) == (payout.id.hex, NET, "PHP")
    assert (payout.status, payout.provider_ref) == ("in_transit", str(booked))


def test_a_payout_whose_answer_is_lost_is_found(begin: Begin) -> None:
    assert begin(ANSWER_LOST).status == "pending"
    assert again().status == "in_transit"


def test_a_payout_that_never_arrived_is_sent_again(begin: Begin) -> None:
    assert begin(NEVER_ARRIVES).status == "pending"
    for _ in range(ABSENT_TRIES - 1):
        assert again().status == "pending"
    assert again().status == "in_transit"
    assert SimulatedPayout.objects.get().state == "accepted"


def test_a_payout_of_which_nothing_is_reported_is_found_when_it_is_looked_up(begin: Begin) -> None:
    begin(SILENT)
    days_pass(2)
    assert (apply_simulator_messages(), Payout.objects.get().status) == (0, "in_transit")
    assert again().status == "paid"
    assert not Message.objects.exists()


def test_an_ordinary_payout_is_reported(begin: Begin) -> None:
    begin("000000000009")
    SimulatedPayout.objects.update(due_at="2026-01-01T00:00Z")
    assert (apply_simulator_messages(), Payout.objects.get().status) == (1, "paid")


def test_a_payout_comes_back_a_day_after_it_was_paid(begin: Begin) -> None:
    begin("000000000003")
    states = []
    for _ in range(3):
        apply_simulator_messages()
        states.append(Payout.objects.get().status)
        days_pass(1)
    assert states == ["in_transit", "paid", "failed"]


def test_repeated_messages_change_nothing(begin: Begin) -> None:
    begin("000000000003")
    bank_acts()
    before = Payout.objects.values().get()
    Message.objects.update(delivered_at=None, due_at="2026-01-01T00:00Z")
    assert apply_simulator_messages() > 0
    assert Payout.objects.values().get() == before
    assert before["status"] == "failed"


@pytest.mark.long
@pytest.mark.parametrize("number", [ANSWER_LOST, NEVER_ARRIVES, SILENT])
def test_the_clock_of_test_mode_brings_every_payout_to_the_bank(api: Api, shop: NewMerchant, number: str) -> None:
    give_account(shop.merchant, number)
    give_schedule(shop.merchant, "daily")
    api.charge()
    for _ in range(7):
        assert api.post("/test/clock", {"advance_seconds": 24 * 3600}).status_code == 200
    assert Payout.objects.get().status == "paid"
