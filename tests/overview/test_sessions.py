"""The figures of checkout sessions: opened, paid and abandoned, by merchant."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import new_id, parse_id
from payments.models import Checkout, DayTotal, Merchant, SummedDay
from payments.overview.checkouts import sessions_of
from payments.overview.day_totals import due_days, sum_up, sum_up_due
from payments.overview.days import Days
from payments.overview.trade import trades_of
from tests.admin.conftest import client_of, words_of
from tests.checkout.shelf import linked
from tests.client import Api
from tests.factories import MerchantFactory
from tests.overview.past_charges import days_ago, make_past_charge

pytestmark = pytest.mark.django_db
ALL = {"unpaid": 1, "paying": 1, "paid": 3, "expired": 2}
FIGURES = {"pending": 2, "approved": 3, "abandoned": 2}


def open_past(merchant: Merchant, moment: datetime, state: str = "paid", **columns: object) -> Checkout:
    """Return a session of `moment` in a state."""
    row = {"amount": 10_000, "currency": "PHP", "order": {"currency": "PHP"}, **columns}
    end = moment + timedelta(hours=24)
    session_id = new_id(moment)
    row = {"id": session_id, "created_at": moment, "expires_at": end, "livemode": False, **row}
    return Checkout.objects.create(merchant=merchant, state=state, **row)


def open_each(merchant: Merchant, moment: datetime) -> None:
    """Open sessions of one moment in all the states of ALL."""
    for state, count in ALL.items():
        for _ in range(count):
            open_past(merchant, moment, state)


def week(merchant: Merchant) -> dict[str, int]:
    found = sessions_of(False, Days.until_today(7), "PHP")
    return dict(found.get(UUID(str(merchant.pk)), {}))


@pytest.mark.usefixtures("noon")
def test_summed_up_or_not_the_figures_are_the_same(shop: NewMerchant) -> None:
    merchant = shop.merchant
    for ago in (0, 1, 3, 6):
        open_each(merchant, days_ago(ago))
    before = week(merchant)
    assert sum_up_due() == 6
    assert DayTotal.objects.filter(source_type="checkout_session").exists()
    assert week(merchant) == before == {outcome: count * 4 for outcome, count in FIGURES.items()}


@pytest.mark.usefixtures("noon")
def test_a_session_of_yesterday_that_ends_today_is_seen_at_once(shop: NewMerchant) -> None:
    session = open_past(shop.merchant, days_ago(1), "unpaid")
    sum_up_due()
    Checkout.objects.filter(id=session.id).update(state="expired")
    assert week(shop.merchant) == {"abandoned": 1}


@pytest.mark.usefixtures("noon")
def test_a_day_is_summed_up_again_once_its_sessions_have_ended_and_not_before(shop: NewMerchant) -> None:
    session, day = open_past(shop.merchant, days_ago(0), "unpaid"), days_ago(0).date()
    midnight = days_ago(0).replace(hour=0)
    with clock.at(midnight + timedelta(hours=25)):
        assert sum_up_due() == 1
        assert sum_up_due() == 0
    Checkout.objects.filter(id=session.id).update(state="expired")
    with clock.at(midnight + timedelta(hours=48)):
        assert day not in due_days()
    with clock.at(midnight + timedelta(hours=49)):
        assert day in due_days()
        sum_up_due()
        assert day not in due_days()
    assert DayTotal.objects.get(day=day).outcome == "abandoned"


@pytest.mark.usefixtures("noon")
def test_a_session_that_is_paid_for_days_keeps_its_day_due(shop: NewMerchant) -> None:
    session, day = open_past(shop.merchant, days_ago(5), "paying"), days_ago(5).date()
    sum_up(day)
    assert SummedDay.objects.get(day=day).pending == 1
    assert day in due_days()
    Checkout.objects.filter(id=session.id).update(state="paid")
    sum_up(day)
    assert day not in due_days()


@pytest.mark.usefixtures("noon")
def test_sessions_are_no_charges_and_payments_of_links_no_sessions(shop: NewMerchant) -> None:
    link = parse_id("plink", linked(Api(shop.keys["sk_test"]))["id"])
    for ago in (0, 3):
        make_past_charge(shop.merchant, days_ago(ago))
        open_past(shop.merchant, days_ago(ago))
        open_past(shop.merchant, days_ago(ago), "expired", kind="link", link_id=link, edition=1, quantities=[1, 0])
        open_past(shop.merchant, days_ago(ago), mode="save_card", amount=0)
    for _ in range(2):
        trade = trades_of(False, Days.until_today(7))["PHP"]
        assert (trade.total.counts.total(), trade.total.volume) == (2, 20_000)
        assert sum(share.counts.total() for share in trade.by_merchant.values()) == 2
        assert week(shop.merchant) == {"approved": 4}
        sum_up_due()


@pytest.mark.usefixtures("noon")
def test_modes_currencies_and_merchants_are_counted_apart(shop: NewMerchant) -> None:
    other = MerchantFactory()
    for ago in (0, 3):
        open_past(shop.merchant, days_ago(ago), livemode=True)
        open_past(shop.merchant, days_ago(ago), currency="JPY")
        open_past(other, days_ago(ago))
    for _ in range(2):
        assert week(shop.merchant) == {}
        assert week(other) == {"approved": 2}
        assert not sessions_of(False, Days.until_today(7), "PHP", frozenset({shop.merchant.pk}))
        sum_up_due()


@pytest.mark.long
@pytest.mark.usefixtures("noon")
def test_the_first_page_shows_sessions_of_all_and_of_each_merchant(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1))
    open_each(shop.merchant, days_ago(1))
    first = f"{reverse('admin:index')}?by=sessions"
    heads = "Merchant Opened Paid Abandoned Open Paid of ended"
    assert f"{heads} Sari Store 7 3 2 2 60.0%" in words_of(_ana().get(first))
    open_past(MerchantFactory(title="Tindahan"), days_ago(1))
    text = words_of(_ana().get(first))
    assert "Sari Store 7 3 2 2 60.0% Tindahan 1 1 0 0 100.0% All 8 4 2 2 66.7%" in text


@pytest.mark.long
def test_the_first_page_shows_no_sessions_where_there_are_none_or_the_operator_may_see_none(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1))
    first = f"{reverse('admin:index')}?by=sessions"
    assert "No session was opened in this time." in words_of(_ana().get(first))
    open_past(shop.merchant, clock.now())
    assert "No session was opened in this time." not in words_of(_ana().get(first))
    assert "Checkout sessions" not in words_of(client_of("vic", "view_charge").get(first))


def _ana() -> Client:
    """Return a client of a superuser."""
    return client_of("ana")
