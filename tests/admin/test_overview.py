"""The admin's first page: what needs attention, what was charged, and where too much was declined."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.admin.figures import breakdowns
from payments.admin.figures.declines import MARKS_COUNT, alerts_of, mark_of
from payments.admin.framework.formats import money
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, DeclineAlert, MerchantAccess, MoneyCheck
from tests.admin.conftest import text_of, words_of
from tests.admin.test_decline_alerts import alert
from tests.admin.test_pages import page_of
from tests.client import DECLINED, Api
from tests.factories import MerchantFactory
from tests.overview.past_charges import days_ago, make_past_charge
from tests.staff.all_merchants import for_all

pytestmark = pytest.mark.long

INDEX = reverse("admin:index")


def member(*permissions: str) -> Client:
    """One of the staff who may do so much."""
    user = User.objects.create(username="ana", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(for_all(user))
    return client


def pesos(amount: int) -> str:
    return " ".join(money(amount, "PHP").split())


def test_it_shows_the_payments(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1), amount=123_450)
    make_past_charge(shop.merchant, days_ago(8), amount=100_000)
    make_past_charge(shop.merchant, days_ago(2), number=DECLINED)
    text = words_of(operator.get(INDEX))
    figures = "Approval rate 50.0% 50 points lower Approved 1 as before Declined 1 Abandoned 0"
    assert f"Volume {pesos(123_450)} 23% more than before {figures}" in text
    assert f"{days_ago(1):%a %-d %b}: {pesos(123_450)}, 1 approved, 0 declined, 0 abandoned, 100.0% approved" in text
    assert "Why charges were declined The bank declined, no reason given 1" in text


def test_the_figures_are_broken_down_by_merchant_and_method(operator: Client, shop: NewMerchant) -> None:
    other = MerchantFactory(title="Tindahan")
    make_past_charge(shop.merchant, days_ago(1), amount=123_450)
    make_past_charge(shop.merchant, days_ago(2), number=DECLINED)
    for day, amount in ((2, 700), (8, 350)):
        make_past_charge(other, days_ago(day), amount=amount)
    response = operator.get(INDEX)
    assert f'?merchant={shop.merchant.pk}">Sari Store</a>' in text_of(response)
    sari = f"Sari Store {pesos(123_450)} 1 1 0 50.0%"
    tindahan, both = f"Tindahan {pesos(700)} twice as much 1 0 0 100.0%", f"{pesos(124_150)} many times as much 2 1 0"
    assert f"{sari} {tindahan} All {both} 66.7%" in words_of(response)
    assert f"Card {both} 66.7%" in words_of(operator.get(INDEX, {"by": "method"}))


def test_the_figures_are_broken_down_by_the_provider_that_decided(operator: Client, shop: NewMerchant) -> None:
    sales = [make_past_charge(shop.merchant, days_ago(day), amount=50_000) for day in (1, 2)]
    assert "By provider" not in text_of(operator.get(INDEX, {"by": "provider"}))
    Attempt.objects.filter(charge=sales[0].charge).update(provider="adyen")
    text = words_of(operator.get(INDEX, {"by": "provider"}))
    for name in ("Simulator", "Adyen"):
        assert f"{name} {pesos(50_000)}" in text


def test_the_largest_merchants_have_a_row_each_and_the_others_one(
    operator: Client, shop: NewMerchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breakdowns, "PARTS_COUNT", 1)
    make_past_charge(shop.merchant, days_ago(1), amount=900)
    for amount in (300, 400):
        make_past_charge(MerchantFactory(), days_ago(1), amount=amount)
    text = words_of(operator.get(INDEX))
    assert f"Sari Store {pesos(900)} 1 0 0 100.0%" in text
    assert f"2 others {pesos(700)} 2 0 0 100.0%" in text


def test_a_limited_operator_sees_the_figures_of_their_merchants_alone(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1))
    make_past_charge(MerchantFactory(title="Tindahan"), days_ago(1))
    user = User.objects.create(username="ben", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_charge"))
    MerchantAccess.objects.create(user=user, merchant=shop.merchant)
    client = Client()
    client.force_login(user)
    assert "Tindahan" not in text_of(client.get(INDEX))


def test_a_burst_of_declines_is_seen_in_its_hour(operator: Client, shop: NewMerchant) -> None:
    hour = clock.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)
    for minute in range(3):
        make_past_charge(shop.merchant, hour + timedelta(minutes=minute), number=DECLINED)
    make_past_charge(shop.merchant, hour - timedelta(hours=30), number=DECLINED)
    text = words_of(operator.get(INDEX, {"days": 1}))
    assert f"{hour:%a %H:%M} UTC: {pesos(0)}, 0 approved, 3 declined, 0 abandoned, 0.0% approved" in text
    assert "By hour" not in text_of(operator.get(INDEX))


def test_it_says_that_the_money_is_in_order_while_the_last_check_found_it_so(operator: Client, db: None) -> None:
    assert "ledger in order" not in text_of(operator.get(INDEX))
    check = MoneyCheck.objects.create(whole=True, finished_at=clock.now(), invariants=["refunds_add_up"])
    assert "ledger in order" in text_of(operator.get(INDEX))
    MoneyCheck.objects.filter(pk=check.pk).update(failures=[{"name": "refunds_add_up", "count": 1}])
    assert "ledger in order" not in text_of(operator.get(INDEX))


def test_a_period_without_charges_says_so(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(20))
    assert "No charge was made in this time." in text_of(operator.get(INDEX))
    assert "No charge was made in this time." not in text_of(operator.get(INDEX, {"days": 30}))


def test_another_currency_is_shown_when_chosen(operator: Client, shop: NewMerchant) -> None:
    for _ in range(2):
        make_past_charge(shop.merchant, days_ago(1))
    make_past_charge(shop.merchant, days_ago(1), amount=777, currency="JPY")
    assert "JPY\N{NO-BREAK SPACE}777" not in text_of(operator.get(INDEX))
    assert "JPY\N{NO-BREAK SPACE}777" in text_of(operator.get(INDEX, {"currency": "JPY"}))


@pytest.mark.parametrize("query", [{"days": "x"}, {"days": "9999"}, {"mode": "both"}, {"currency": "<b>"}], ids=str)
def test_what_cannot_be_chosen_is_passed_over(query: dict[str, str], operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1))
    text = text_of(operator.get(INDEX, query))
    assert '<a href="?days=7" aria-current="true">7 days</a>' in text
    assert "<b>" not in text


def test_it_begins_with_tasks_where_there_is_no_charge_yet(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1))
    assert "ways to begin" not in words_of(operator.get(INDEX))
    begin = operator.get(INDEX, {"mode": "live"})
    assert ("Two ways to begin" in words_of(begin), "overview-sums" in text_of(begin)) == (True, False)
    assert reverse("admin:auth_user_add") in text_of(begin)
    assert "Begin with a payment" in words_of(member("view_charge").get(INDEX, {"mode": "live"}))


def test_no_welcome_stands_where_work_waits_and_what_waits_is_said(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now() - timedelta(days=6, hours=20, minutes=30), hold=True)
    text = words_of(operator.get(INDEX, {"mode": "live"}))
    assert ("Welcome" in text, "Card hold ends" in text) == (False, True)


def test_the_list_of_holds_that_expire_soon_has_these_alone(operator: Client, shop: NewMerchant) -> None:
    soon = make_past_charge(shop.merchant, days_ago(6), hold=True).charge
    later = make_past_charge(shop.merchant, days_ago(1), hold=True).charge
    text = text_of(operator.get(reverse("admin:payments_charge_changelist"), {"money": "expiring"}))
    assert [page_of(charge) in text for charge in (soon, later)] == [True, False]


def test_an_operator_who_may_not_see_charges_sees_no_figures(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1))
    assert "What was charged" not in text_of(member("view_merchant").get(INDEX))


def test_what_is_well_is_said_to_an_operator_who_may_see_its_list(shop: NewMerchant) -> None:
    text = words_of(member("view_charge", "view_webhook").get(INDEX))
    assert "All is well: card holds, webhook receivers, and 2 more." in text


def test_the_page_has_neither_script_nor_style_in_it(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1))
    text = text_of(operator.get(INDEX))
    overview = text[text.index('<section class="figures"') : text.index("Each figure is compared")]
    assert not re.search(r"<script|<style|style=|\son\w+=", overview)
    assert "<rect" in overview


def test_a_charge_made_now_is_there_at_once(operator: Client, api: Api) -> None:
    api.charge(amount=98_700)
    assert "₱987.00" in text_of(operator.get(INDEX, {"days": 1}))


def marks_on(client: Client, **query: int) -> list[str]:
    return re.findall(
        r'<a href="([^"]+)" aria-label="[^"]+"><circle class="alert-mark"', text_of(client.get(INDEX, query))
    )


def client_with(*permissions: str) -> tuple[Client, User]:
    user = User.objects.create(username="ben", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client, user


def test_an_alert_is_a_mark_that_leads_to_its_page(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1), number=DECLINED)
    made_alert = alert(merchant=shop.merchant)
    assert marks_on(operator) == [page_of(made_alert)]


def test_today_has_marks_on_its_hours(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now(), number=DECLINED)
    made_alert = alert(merchant=shop.merchant)
    assert marks_on(operator, days=1) == [page_of(made_alert)]


def test_a_mark_stands_at_the_time_of_its_alert(db: None) -> None:
    now = clock.now()
    assert mark_of(alert(created_at=now - timedelta(hours=18)), now - timedelta(hours=24), now).x == 25


def test_alerts_of_other_modes_and_days_are_no_marks(db: None) -> None:
    alert(livemode=True)
    alert(created_at=clock.now() - timedelta(days=8))
    assert not alerts_of(False, clock.now() - timedelta(days=7), clock.now())


def test_a_day_with_most_declines_and_an_alert_explains_them(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(2))
    *_, last = [make_past_charge(shop.merchant, days_ago(day), number=DECLINED) for day in (2, 1, 1)]
    assert "of them on" not in text_of(operator.get(INDEX))
    made_alert = alert(charge=last.charge, merchant=shop.merchant, created_at=days_ago(1))
    text = text_of(operator.get(INDEX))
    assert f"2 of them on {days_ago(1):%-d %B}, the day of an alert: 3 declines on one card, at Sari Store." in text
    assert f'Without that day the approval rate is 50.0%. <a href="{page_of(made_alert)}">' in text


def test_of_many_alerts_the_newest_are_marks(db: None) -> None:
    now = clock.now()
    first = alert()
    for number in range(MARKS_COUNT):
        begin = now + timedelta(hours=number + 1)
        alert(charge=first.charge, window_starts_at=begin, window_ends_at=begin + timedelta(hours=1))
    found = alerts_of(False, now - timedelta(hours=1), clock.now())
    assert len(found) == MARKS_COUNT
    assert first not in found


def test_a_limited_operator_sees_marks_of_their_merchants_alone(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1), number=DECLINED)
    theirs = alert(merchant=shop.merchant)
    alert()
    client, user = client_with("view_charge", "view_declinealert")
    MerchantAccess.objects.create(user=user, merchant=shop.merchant)
    assert DeclineAlert.objects.count() == 2
    assert marks_on(client) == [page_of(theirs)]


def test_an_operator_who_may_not_look_at_alerts_sees_no_marks(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1), number=DECLINED)
    alert(merchant=shop.merchant)
    client, user = client_with("view_charge")
    MerchantAccess.objects.create(user=user, merchant=shop.merchant)
    assert "By day" in text_of(client.get(INDEX))
    assert not marks_on(client)
