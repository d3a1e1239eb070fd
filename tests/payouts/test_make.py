"""Payouts are made of what is settled: each cent once, and what the merchant owes first."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import Sum

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make
from payments.domain.payouts.make import NothingToPay
from payments.domain.payouts.schedules import next_run_at
from payments.models import Payout, PayoutPart, PayoutSchedule, Settlement
from tests.client import Api, made
from tests.ledger.books import settle, standing
from tests.payouts.stories import days_pass, give_account, give_schedule, settled

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fees")]

NET = 10_000 - 365


@pytest.fixture
def schedule(shop: NewMerchant) -> PayoutSchedule:
    give_account(shop.merchant)
    return give_schedule(shop.merchant)


def test_a_payout_takes_what_is_settled(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)
    assert make.make_now(schedule.id).amount == NET
    assert standing() == {"bank": 10_000, "fees": -365, "payouts_in_transit": -NET}


def test_a_payout_is_made_of_its_settlement(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)
    payout = make.make_now(schedule.id)
    part = PayoutPart.objects.get(payout=payout)
    assert (part.id, part.is_settlement, part.amount) == (Settlement.objects.get().id, True, NET)


def test_what_is_not_settled_is_not_paid_out(api: Api, schedule: PayoutSchedule) -> None:
    api.charge()
    with pytest.raises(NothingToPay, match="nothing to pay out"):
        make.make_now(schedule.id)


def test_a_settlement_is_paid_out_when_its_day_is_over(api: Api, schedule: PayoutSchedule) -> None:
    api.charge()
    settle()
    with pytest.raises(NothingToPay):
        make.make_now(schedule.id)
    days_pass(1)
    assert make.make_now(schedule.id).amount == NET


def test_a_settlement_waits_for_the_delay(api: Api, schedule: PayoutSchedule) -> None:
    PayoutSchedule.objects.update(delay_days=2)
    settled(api)
    days_pass(1)
    with pytest.raises(NothingToPay):
        make.make_now(schedule.id)
    days_pass(1)
    assert make.make_now(schedule.id).amount == NET


def test_the_same_money_is_paid_out_once(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)
    make.make_now(schedule.id)
    with pytest.raises(NothingToPay):
        make.make_now(schedule.id)
    assert Payout.objects.count() == 1


def test_what_settles_after_a_payout_is_in_the_next_one(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)
    first = make.make_now(schedule.id)
    settled(api, amount=5_000)
    second = make.make_now(schedule.id)
    assert (first.amount, second.amount) == (NET, 5_000 - 190)
    assert list(Settlement.objects.order_by("number").values_list("number", flat=True)) == [1, 2]


def test_the_settlements_of_each_day_are_numbered_from_one(api: Api, schedule: PayoutSchedule) -> None:
    settled(api)
    make.make_now(schedule.id)
    with clock.at(clock.now() + timedelta(days=1)):
        settled(api)
    assert list(Settlement.objects.values_list("number", flat=True)) == [1, 1]


def test_a_refund_after_settlement_is_kept_from_the_next_payout(api: Api, schedule: PayoutSchedule) -> None:
    charge = settled(api)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    assert make.make_now(schedule.id).amount == NET - 4_000


def test_a_debt_is_kept_from_a_later_payout(api: Api, schedule: PayoutSchedule) -> None:
    charge = settled(api)
    make.make_now(schedule.id)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    with pytest.raises(NothingToPay):
        make.make_now(schedule.id)
    assert not PayoutPart.objects.filter(payout__isnull=True, amount__gte=0).exists()
    settled(api)
    assert make.make_now(schedule.id).amount == NET - 4_000


def test_a_payout_needs_a_bank_account(api: Api, shop: NewMerchant) -> None:
    schedule = give_schedule(shop.merchant)
    settled(api)
    with pytest.raises(NothingToPay, match="no bank account"):
        make.make_now(schedule.id)


def test_an_account_that_is_not_in_effect_is_not_paid_to(api: Api, schedule: PayoutSchedule, shop: NewMerchant) -> None:
    settled(api)
    other = give_account(shop.merchant, "000999")
    other.effective_at = clock.now() + timedelta(hours=1)
    other.save()
    assert make.make_now(schedule.id).account.last4 == "6789"


def test_a_reserve_is_kept_of_a_payout(api: Api, schedule: PayoutSchedule) -> None:
    PayoutSchedule.objects.update(reserve_percent=10, reserve_days=30)
    settled(api)
    payout = make.make_now(schedule.id)
    assert (payout.amount, payout.reserve) == (NET - 963, 963)
    assert standing()["merchant_reserve"] == -963


def test_payable_says_what_a_payout_would_take(api: Api, schedule: PayoutSchedule) -> None:
    charge = settled(api)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    expected = make.payable(schedule, clock.now())
    assert make.make_now(schedule.id).amount == expected
    assert make.payable(schedule, clock.now()) == 0


def test_a_due_schedule_makes_a_payout_and_waits_for_its_next_day(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant)
    give_schedule(shop.merchant, "daily")
    settled(api)
    assert make.make_due() == 1
    assert make.make_due() == 0
    assert Payout.objects.get().amount == NET
    assert PayoutSchedule.objects.get().next_at == next_run_at("daily", clock.now())


def test_a_due_schedule_without_money_waits_for_its_next_day(shop: NewMerchant) -> None:
    give_schedule(shop.merchant, "weekly")
    days_pass(7)
    assert make.make_due() == 1
    assert not Payout.objects.exists()
    assert PayoutSchedule.objects.get().next_at == next_run_at("weekly", clock.now())


def test_another_currency_is_not_paid_out(api: Api, schedule: PayoutSchedule, shop: NewMerchant) -> None:
    settled(api, currency="USD")
    with pytest.raises(NothingToPay):
        make.make_now(schedule.id)
    give_account(shop.merchant, currency="USD")
    assert make.make_now(give_schedule(shop.merchant, currency="USD").id).amount == 10_000


def test_parts_add_up_to_payout_and_reserve(api: Api, schedule: PayoutSchedule) -> None:
    PayoutSchedule.objects.update(reserve_percent=25, reserve_days=1)
    charge = settled(api)
    settled(api, amount=7_777)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 123}))
    payout = make.make_now(schedule.id)
    total = PayoutPart.objects.filter(payout=payout).aggregate(total=Sum("amount"))["total"]
    assert total == payout.amount + payout.reserve


@pytest.mark.parametrize(
    ("interval", "now", "expected"),
    [
        ("daily", datetime(2026, 1, 31, 0, 59, tzinfo=UTC), datetime(2026, 1, 31, 1, tzinfo=UTC)),
        ("daily", datetime(2026, 1, 31, 1, tzinfo=UTC), datetime(2026, 2, 1, 1, tzinfo=UTC)),
        ("weekly", datetime(2026, 11, 24, 12, tzinfo=UTC), datetime(2026, 11, 30, 1, tzinfo=UTC)),
        ("monthly", datetime(2026, 12, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, 1, tzinfo=UTC)),
        ("manual", datetime(2026, 12, 1, 1, tzinfo=UTC), None),
    ],
)
def test_a_schedule_runs_at_one_in_the_morning_of_its_days(
    interval: str, now: datetime, expected: datetime | None
) -> None:
    assert next_run_at(interval, now) == expected
