"""Decline alerts are marks on the first page's chart of outcomes, each with the way to its page."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.admin.charts import WIDTH
from payments.admin.overview import MARKS_COUNT, marks_of
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


def test_a_period_of_a_day_has_marks_on_its_hours_too(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now(), number=DECLINED)
    made_alert = alert(merchant=shop.merchant)
    assert marks_on(operator, days=1) == [page_of(made_alert)] * 2


def test_a_mark_stands_at_the_time_of_its_alert(db: None) -> None:
    now = clock.now()
    alert(created_at=now - timedelta(hours=18))
    assert [mark.x for mark in marks_of(False, now - timedelta(hours=24), now)] == [WIDTH / 4]


def test_alerts_of_other_modes_and_days_are_no_marks(db: None) -> None:
    alert(livemode=True)
    alert(created_at=clock.now() - timedelta(days=8))
    assert not marks_of(False, clock.now() - timedelta(days=7), clock.now())


def test_of_many_alerts_the_newest_are_marks(db: None) -> None:
    now = clock.now()
    first = alert()
    for number in range(MARKS_COUNT):
        begin = now + timedelta(hours=number + 1)
        alert(charge=first.charge, window_starts_at=begin, window_ends_at=begin + timedelta(hours=1))
    marks = marks_of(False, now - timedelta(hours=1), clock.now())
    assert len(marks) == MARKS_COUNT
    assert page_of(first) not in [mark.address for mark in marks]


def test_a_limited_operator_sees_marks_of_their_merchants_alone(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1), number=DECLINED)
    theirs = alert(merchant=shop.merchant)
    alert()
    client, user = client_with("view_charge", "view_declinealert")
    MerchantAccess.objects.create(operator=user, merchant=shop.merchant)
    assert DeclineAlert.objects.count() == 2
    assert marks_on(client) == [page_of(theirs)]


def test_an_operator_who_may_not_look_at_alerts_sees_no_marks(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1), number=DECLINED)
    alert(merchant=shop.merchant)
    client, user = client_with("view_charge")
    MerchantAccess.objects.create(operator=user, merchant=shop.merchant)
    assert "Outcomes per day" in text_of(client.get(INDEX))
    assert not marks_on(client)
