"""Decline alerts are marks on the first page's chart of outcomes, each with the way to its page."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.admin.figures.declines import MARKS_COUNT, alerts_of, mark_of
from payments.domain.merchants.merchants import NewMerchant
from payments.models import DeclineAlert, MerchantAccess
from tests.admin.conftest import text_of
from tests.admin.test_decline_alerts import alert
from tests.admin.test_pages import page_of
from tests.client import DECLINED
from tests.overview.past_charges import days_ago, make_past_charge

pytestmark = pytest.mark.long

INDEX = reverse("admin:index")


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
