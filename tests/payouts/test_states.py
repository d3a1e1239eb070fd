"""A payout goes forward only, and its money is at one place at any time."""

from collections.abc import Callable

import pytest

from payments.db.writes import StaleRow
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, states
from payments.models import Event, Payout, PayoutSchedule, Webhook
from tests.client import Api
from tests.ledger.books import standing
from tests.payouts.stories import bank_acts, days_pass, give_account, give_schedule, paid_out, settled
from tests.webhooks.endpoints import add_endpoint

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fees")]

NET = 10_000 - 365
BOOKS = {"bank": 10_000, "fees": -365, "merchant_payable": -NET}


@pytest.fixture
def schedule(api: Api, shop: NewMerchant) -> PayoutSchedule:
    give_account(shop.merchant)
    settled(api)
    return give_schedule(shop.merchant)


def events_of(payout: Payout) -> list[str]:
    return list(Event.objects.filter(object_id=payout.id).order_by("sequence").values_list("type", flat=True))


def test_a_paid_payout_has_left_the_bank(schedule: PayoutSchedule) -> None:
    payout = paid_out(schedule)
    assert payout.status == "paid"
    assert standing() == {"bank": 10_000 - NET, "fees": -365}
    assert events_of(payout) == ["payout.created", "payout.updated", "payout.paid"]


def test_a_refused_payout_gives_the_money_back(schedule: PayoutSchedule, shop: NewMerchant) -> None:
    give_account(shop.merchant, "000000000002")
    payout = paid_out(schedule)
    assert (payout.status, payout.failure_code) == ("failed", "account_refused")
    assert standing() == BOOKS
    assert events_of(payout) == ["payout.created", "payout.updated", "payout.failed"]


def test_a_returned_payout_gives_the_money_back(schedule: PayoutSchedule, shop: NewMerchant) -> None:
    give_account(shop.merchant, "000000000003")
    payout = paid_out(schedule)
    assert (payout.status, payout.failure_code) == ("failed", "returned")
    assert standing() == BOOKS
    assert events_of(payout) == ["payout.created", "payout.updated", "payout.paid", "payout.failed"]


def test_a_cancelled_payout_gives_the_money_back(schedule: PayoutSchedule) -> None:
    payout = states.cancel(make.make_now(schedule.id))
    assert standing() == BOOKS
    assert events_of(payout) == ["payout.created", "payout.cancelled"]


def test_money_that_came_back_is_paid_out_again(schedule: PayoutSchedule, shop: NewMerchant) -> None:
    give_account(shop.merchant, "000000000003")
    paid_out(schedule)
    give_account(shop.merchant)
    assert paid_out(schedule).amount == NET
    assert standing() == {"bank": 10_000 - NET, "fees": -365}


def test_a_reserve_is_released_on_its_day_and_paid_out(schedule: PayoutSchedule) -> None:
    PayoutSchedule.objects.update(reserve_percent=10, reserve_days=30)
    paid_out(schedule)
    assert standing()["merchant_reserve"] == -963
    days_pass(30)
    assert states.release_reserves() == 1
    assert states.release_reserves() == 0
    PayoutSchedule.objects.update(reserve_percent=0, reserve_days=0)
    assert paid_out(schedule).amount == 963
    assert standing() == {"bank": 10_000 - NET, "fees": -365}


@pytest.mark.parametrize(
    "come_back", [states.cancel, lambda made: states.mark_failed(states.mark_paid(states.mark_sent(made)), "returned")]
)
def test_a_payout_that_came_back_keeps_no_reserve_beside_the_one_of_the_next(
    schedule: PayoutSchedule, come_back: Callable[[Payout], Payout]
) -> None:
    PayoutSchedule.objects.update(reserve_percent=10, reserve_days=30)
    for _ in range(4):
        come_back(make.make_now(schedule.id))
        assert standing() == BOOKS
    assert make.make_now(schedule.id).reserve == 963
    assert standing()["merchant_reserve"] == -963


def test_a_reserve_that_was_released_comes_back_once(schedule: PayoutSchedule) -> None:
    PayoutSchedule.objects.update(reserve_percent=10, reserve_days=30)
    payout = states.mark_paid(states.mark_sent(make.make_now(schedule.id)))
    states.mark_failed(states.release_reserve(payout), "returned")
    assert standing() == BOOKS


def test_a_payout_that_was_paid_after_all_leaves_the_reserve_that_was_given_back(schedule: PayoutSchedule) -> None:
    PayoutSchedule.objects.update(reserve_percent=10, reserve_days=30)
    payout = states.cancel(make.make_now(schedule.id))
    states.mark_paid_late(payout)
    assert standing() == {"bank": 10_000 - payout.amount, "fees": -365, "merchant_payable": -payout.reserve}


@pytest.mark.parametrize("change", [states.mark_paid, lambda payout: states.mark_failed(payout, "returned")])
def test_a_pending_payout_is_neither_paid_nor_failed(
    schedule: PayoutSchedule, change: Callable[[Payout], Payout]
) -> None:
    payout = make.make_now(schedule.id)
    with pytest.raises(StaleRow):
        change(payout)
    assert Payout.objects.get().status == "pending"


@pytest.mark.long
@pytest.mark.parametrize("change", [states.cancel, states.mark_sent, states.mark_paid])
def test_a_failed_payout_is_final(
    schedule: PayoutSchedule, shop: NewMerchant, change: Callable[[Payout], Payout]
) -> None:
    give_account(shop.merchant, "000000000002")
    payout = paid_out(schedule)
    with pytest.raises(StaleRow):
        change(payout)


def test_a_payout_that_another_process_changed_is_not_changed_again(schedule: PayoutSchedule) -> None:
    payout = make.make_now(schedule.id)
    states.mark_sent(payout)
    with pytest.raises(StaleRow):
        states.cancel(payout)
    assert standing()["payouts_in_transit"] == -NET


def test_events_of_a_payout_go_to_the_endpoints_that_list_them(schedule: PayoutSchedule, shop: NewMerchant) -> None:
    listed = add_endpoint(shop.merchant, events=("payout.created",))
    add_endpoint(shop.merchant, events=("dispute.created",))
    payout = make.make_now(schedule.id)
    assert Webhook.objects.get(event__object_id=payout.id).endpoint == listed


@pytest.mark.long
def test_the_clock_of_test_mode_brings_a_payout_to_the_bank(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant)
    give_schedule(shop.merchant, "daily")
    api.charge()
    for _ in range(4):
        assert api.post("/test/clock", {"advance_seconds": 24 * 3600}).status_code == 200
    assert Payout.objects.get().status == "paid"


def test_a_bank_of_test_mode_touches_no_live_payout(schedule: PayoutSchedule) -> None:
    payout = make.make_now(schedule.id)
    Payout.objects.filter(id=payout.id).update(livemode=True, due_at=None)
    bank_acts()
    assert Payout.objects.get().status == "pending"
