"""What a bank or a person does about payouts, done because a test key asks for it."""

from threading import Event
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponse

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, outcomes, send
from payments.domain.payouts.schedules import account_in_effect, number_of
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.models import AuditEntry, Payout, PayoutAccount, PayoutSchedule
from payments.providers.payouts import Failed
from payments.providers.simulator.models import SimulatedPayout
from tests.client import Api, error_of, made
from tests.concurrency import await_a_waiting_session, in_background
from tests.contract.shapes import EVENT, faults_in
from tests.payouts.setups import NUMBER
from tests.payouts.stories import give_account, give_schedule, settled

pytestmark = pytest.mark.django_db
PATH = "/test/events"


@pytest.fixture
def schedule(api: Api, shop: NewMerchant) -> PayoutSchedule:
    """Return a schedule with money that can be paid out."""
    settled(api)
    give_account(shop.merchant)
    return give_schedule(shop.merchant)


@pytest.mark.parametrize(("there", "code"), [({}, "account_refused"), ({"state": "paid", "due_at": None}, "returned")])
def test_the_bank_refuses_or_returns_a_payout_that_is_on_its_way(
    api: Api, schedule: PayoutSchedule, there: dict[str, Any], code: str
) -> None:
    payout = make.make_now(schedule.id)
    send.send_due()
    # What the bank has not reported yet.
    SimulatedPayout.objects.update(**there)
    event = made(api.post(PATH, {"type": "payout.failed"}))
    assert faults_in(event, EVENT) == []
    shown = event["data"]["object"]
    assert (event["type"], shown["status"], shown["failure_code"]) == ("payout.failed", "failed", code)
    apply_simulator_messages()
    payout.refresh_from_db()
    assert (payout.status, make.payable(schedule, clock.now())) == ("failed", 10_000)


def test_an_operator_cancels_a_payout_of_what_is_available(api: Api, schedule: PayoutSchedule) -> None:
    event = made(api.post(PATH, {"type": "payout.cancelled"}))
    assert (event["type"], event["data"]["object"]["amount"]) == ("payout.cancelled", 10_000)
    assert Payout.objects.get().status == "cancelled"


@pytest.mark.parametrize("event_type", ["payout.failed", "payout.cancelled"])
def test_without_a_payout_nothing_happens_and_the_answer_says_what_to_do(api: Api, event_type: str) -> None:
    answer = api.post(PATH, {"type": event_type})
    assert (answer.status_code, error_of(answer)["code"]) == (409, "event_not_possible")
    assert not Payout.objects.exists()


def test_the_bank_account_is_added_again(api: Api, shop: NewMerchant, schedule: PayoutSchedule) -> None:
    event = made(api.post(PATH, {"type": "payout_account.created"}, key="once"))
    assert made(api.post(PATH, {"type": "payout_account.created"}, key="once")) == event
    account = account_in_effect(schedule, clock.now())
    assert account is not None
    assert (PayoutAccount.objects.count(), number_of(account)) == (2, NUMBER)
    assert AuditEntry.objects.filter(action="added").latest("id").actor.startswith("key_")


def test_an_account_is_withdrawn_before_it_takes_effect(api: Api) -> None:
    event = made(api.post(PATH, {"type": "payout_account.updated"}))
    assert "withdrawn_at" in event["data"]["object"]
    assert PayoutAccount.objects.get().withdrawn_at


def test_in_live_mode_nobody_acts_for_a_key(shop: NewMerchant) -> None:
    answer = Api(shop.keys["sk_live"]).post(PATH, {"type": "payout_account.created"})
    assert (answer.status_code, PayoutAccount.objects.count()) == (404, 0)


@pytest.mark.django_db(transaction=True)
def test_a_payout_that_a_worker_changes_meanwhile_is_refused_once(api: Api, schedule: PayoutSchedule) -> None:
    payout, is_changed = make.make_now(schedule.id), Event()
    send.send_due()
    payout.refresh_from_db()

    def ask() -> HttpResponse:
        assert is_changed.wait(60)
        return api.post(PATH, {"type": "payout.failed"})

    with in_background(ask) as answered, transaction.atomic():
        outcomes.record(payout, Failed("account_refused", payout.provider_ref))
        is_changed.set()
        await_a_waiting_session()
    answer = answered.result()
    assert (answer.status_code, error_of(answer)["code"]) == (409, "event_not_possible")
