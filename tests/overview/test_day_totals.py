"""The totals of past days equal the sums of their charges, in any order of events."""

from collections.abc import Callable
from datetime import date, timedelta
from uuid import UUID

import pytest
from django.core.management import call_command

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.ids import first_id
from payments.models import Charge, DayTotal, SummedDay
from payments.overview.day_totals import COMMITTED_AFTER, due_days, sum_up, sum_up_due
from payments.overview.days import Days
from payments.overview.trade import Trade, trades_of
from payments.quickstart.demo.sales import Sale
from tests.client import ANSWER_LOST, DECLINED, NEVER_ARRIVES
from tests.concurrency import at_once
from tests.factories import ChargeFactory
from tests.overview.past_charges import days_ago, make_past_charge

# At midnight, the days before and after an assertion differ.
pytestmark = pytest.mark.usefixtures("noon")


def week(currency: str = "PHP") -> Trade:
    days = Days.until_today(7)
    return trades_of(livemode=False, days=days).get(currency, Trade(days, []))


def figures_of(trade: Trade) -> tuple[int, int, int, int]:
    approved, declined, pending = (trade.total.counts[each] for each in ("approved", "declined", "pending"))
    return approved, declined, pending, trade.total.volume


def test_a_charge_counts_on_the_day_on_which_it_was_made(shop: NewMerchant) -> None:
    moment = days_ago(2)
    make_past_charge(shop.merchant, moment)
    by_day = week().by_day
    assert {day: dict(share.counts) for day, share in by_day.items() if share.counts} == {
        moment.date(): {"approved": 1}
    }


def test_the_last_moment_of_a_day_belongs_to_it(shop: NewMerchant) -> None:
    midnight = days_ago(2).replace(hour=0)
    last, first = UUID(int=first_id(midnight).int - 1), first_id(midnight)
    for charge_id, moment in ((last, midnight - timedelta(milliseconds=1)), (first, midnight)):
        ChargeFactory(id=charge_id, merchant=shop.merchant, created_at=moment, is_captured=True)
    sum_up_due()
    counts = dict(DayTotal.objects.order_by("day").values_list("day", "count"))
    assert counts == {midnight.date() - timedelta(days=1): 1, midnight.date(): 1}


def test_summed_up_or_not_the_figures_are_the_same(shop: NewMerchant) -> None:
    for ago in (0, 1, 3, 6):
        make_past_charge(shop.merchant, days_ago(ago))
        make_past_charge(shop.merchant, days_ago(ago), number=DECLINED)
    before = week()
    assert sum_up_due() == 6
    assert DayTotal.objects.exists()
    assert figures_of(week()) == figures_of(before) == (4, 4, 0, 40_000)
    assert week().by_day == before.by_day


@pytest.mark.parametrize("later", [Sale.void, Sale.refund], ids=["voided", "refunded"])
def test_later_operations_do_not_change_the_day(shop: NewMerchant, later: Callable[[Sale], object]) -> None:
    make_past_charge(shop.merchant, days_ago(3), later)
    sum_up_due()
    assert figures_of(week()) == (1, 0, 0, 10_000)


def test_a_hold_counts_with_what_was_asked_for(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(3), lambda sale: sale.capture(1), hold=True)
    assert week().total.volume == 10_000


def test_a_past_day_is_summed_up_again_when_its_pending_charge_ends(shop: NewMerchant) -> None:
    sale = make_past_charge(shop.merchant, days_ago(3), number=ANSWER_LOST)
    sum_up_due()
    assert figures_of(week()) == (0, 0, 1, 0)
    Charge.objects.filter(id=sale.charge.id).update(status="succeeded", captured=True, amount_captured=10_000)
    assert sum_up_due() == 1
    assert figures_of(week()) == (1, 0, 0, 10_000)
    assert sum_up_due() == 0


def test_a_day_is_summed_up_only_after_its_last_commits(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1))
    midnight = days_ago(0).replace(hour=0)
    with clock.at(midnight + COMMITTED_AFTER - timedelta(seconds=1)):
        assert due_days() == []
    with clock.at(midnight + COMMITTED_AFTER):
        assert due_days() == [days_ago(1).date()]


def test_a_year_is_summed_up_in_batches_oldest_first(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(30))
    assert sum_up_due(limit=10) == 10
    assert sum_up_due(limit=10) == 10
    assert SummedDay.objects.earliest("day").day == days_ago(30).date()
    assert SummedDay.objects.count() == 20


def test_a_rebuild_includes_late_charges(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(3))
    sum_up_due()
    make_past_charge(shop.merchant, days_ago(3))
    call_command("sum_up")
    assert week().total.counts["approved"] == 2


def test_days_before_the_first_charge_are_not_due(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(2))
    sum_up_due()
    assert set(SummedDay.objects.values_list("day", flat=True)) == {days_ago(2).date(), days_ago(1).date()}


def test_modes_merchants_and_currencies_are_summed_up_separately(shop: NewMerchant) -> None:
    other = create_merchant("Other Store").merchant
    for merchant in (shop.merchant, other):
        make_past_charge(merchant, days_ago(2))
        make_past_charge(merchant, days_ago(2), currency="JPY")
    sum_up_due()
    assert DayTotal.objects.filter(day=days_ago(2).date()).count() == 4
    assert week("JPY").total.counts["approved"] == 2
    assert trades_of(livemode=True, days=Days.until_today(7)) == {}


@pytest.mark.django_db(transaction=True)
def test_concurrent_runs_give_the_same_totals(shop: NewMerchant) -> None:
    day: date = days_ago(2).date()
    for _ in range(5):
        make_past_charge(shop.merchant, days_ago(2))
    at_once(6, lambda _: sum_up(day))
    assert figures_of(week()) == (5, 0, 0, 50_000)


def test_reasons_are_sorted_by_number(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1), Sale.look_up, number=NEVER_ARRIVES)
    for _ in range(2):
        make_past_charge(shop.merchant, days_ago(1), number=DECLINED)
    assert week().reasons == [("card_declined", 2), ("processing_error", 1)]


def test_pending_charges_leave_the_approval_rate_alone(shop: NewMerchant) -> None:
    assert week().total.approval_rate is None
    make_past_charge(shop.merchant, days_ago(1))
    make_past_charge(shop.merchant, days_ago(1), number=ANSWER_LOST)
    assert week().total.approval_rate == 1.0


def test_a_payer_who_left_is_abandoned_and_no_decline(shop: NewMerchant) -> None:
    for number in (None, DECLINED, DECLINED):
        make_past_charge(shop.merchant, days_ago(2), **({"number": number} if number else {}))
    newest = Charge.objects.filter(status="failed").latest("id")
    Charge.objects.filter(id=newest.id).update(failure_data={"code": "action_expired", "message": "Too late"})
    for _ in range(2):
        total = week().total
        assert total.counts == {"approved": 1, "declined": 1, "abandoned": 1}
        assert total.approval_rate == 0.5
        sum_up_due()


def test_the_days_before_are_as_many_and_end_where_these_begin() -> None:
    days = Days.until_today(7)
    assert (len(list(days.before)), days.before.last + timedelta(days=1)) == (7, days.first)
