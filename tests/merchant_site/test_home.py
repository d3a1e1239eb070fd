"""The first page of the merchants' site: what waits, today's money, the next payout and what failed, by role."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.merchant_site.today import today_of
from payments.models import Charge, Merchant, Webhook
from payments.quickstart.demo import payouts
from tests.admin.conftest import House, text_of, words_of
from tests.checkout.shelf import linked, open_payment, pay
from tests.client import APPROVED, DECLINED, Api, signed_in
from tests.merchant_site.conftest import Role, member
from tests.merchant_site.test_walls import Rows, newest_shown, rows  # noqa: F401
from tests.office.conftest import office  # noqa: F401
from tests.office.tabs import FILIPINO, PHONE, WAYS, Office
from tests.overview.past_charges import make_past_charge
from tests.pages.axe import grave_faults
from tests.pages.conftest import browser  # noqa: F401
from tests.payouts.stories import days_pass, give_account, give_schedule, paid_out, settled

pytestmark = [pytest.mark.long, pytest.mark.django_db]

HOME = "/merchant/"


@pytest.mark.usefixtures("noon")
def test_it_shows_the_money_of_today_and_what_did_not_go_through(house: House, owner: Client, api: Api) -> None:
    api.charge_source(api.source(DECLINED, owner={"name": "Ramil Ocampo"}), 112_000, description="Kit")
    text = words_of(owner.get(HOME))
    assert "Today 1 payment ₱1,234.50" in text
    assert "more than last" in text
    assert "Did not go through Ramil Ocampo Kit. The bank declined, no reason given, today" in text


@pytest.mark.usefixtures("noon")
def test_today_is_compared_with_the_same_hours_of_the_week_before(shop: NewMerchant) -> None:
    limit, now = frozenset({shop.merchant.pk}), clock.now()
    week_ago = now - timedelta(days=7)
    make_past_charge(shop.merchant, week_ago - timedelta(minutes=1), amount=100)
    make_past_charge(shop.merchant, week_ago + timedelta(minutes=1), amount=10_000)
    today = today_of(livemode=False, currency="PHP", limit=limit)
    assert (today.share.volume, today.before.volume, today.then.total) == (0, 100, 10_100)


def test_a_payment_of_a_link_counts_once_it_is_paid(owner: Client, api: Api) -> None:
    api.charge()
    link = linked(api, internal_name="Summer menu")
    payment = open_payment(link, 1, 0)
    assert "Summer menu 0 payments" in words_of(owner.get(HOME))
    pay(payment)
    assert "Summer menu 1 payment" in words_of(owner.get(HOME))


def test_what_waits_leads_to_pages_of_this_site(owner: Client, api: Api) -> None:
    held = api.charge(APPROVED, 20_000, capture=False, description="Charter")
    Charge.objects.update(hold_expires_at=clock.now() + timedelta(hours=5))
    page = text_of(owner.get(HOME))
    row = Charge.objects.get(id=held["id"].removeprefix("ch_"))
    assert f'href="/merchant/payments/charge/{row.pk}/capture/"' in page
    assert "One thing needs you" in page
    assert 'href="/admin/' not in page
    for step in ("change", "capture", "extend"):
        assert owner.get(f"/merchant/payments/charge/{row.pk}/{step}/").status_code == 200


def test_every_link_of_the_page_opens_whatever_waits(rows: Rows, owner: Client) -> None:  # noqa: F811
    links = set(re.findall(r'href="(/merchant/[^"]*)"', text_of(owner.get(HOME))))
    assert any("/decide/" in link for link in links)
    assert {link for link in links if owner.get(link).status_code not in (200, 302)} == set()


def test_it_has_the_next_payout_with_the_bank_account(house: House, owner: Client, shop: NewMerchant) -> None:
    payouts.set_up(shop.merchant)
    assert "Next payout Nothing yet" in words_of(owner.get(HOME))
    assert "to the account ending in 7890" in words_of(owner.get(HOME))


def test_webhooks_that_fail_are_for_those_who_may_see_webhooks(house: House, shop: NewMerchant) -> None:
    Webhook.objects.update(state=Webhook.State.EXHAUSTED, due_at=None, failures=14, tries=14)
    seen = {role: "given up" in text_of(signed_in(member(shop.merchant, role)).get(HOME)) for role in Role.values}
    assert seen == {"owner": True, "developer": True, "finance": False, "support": False, "viewer": False}


def test_a_shop_without_a_charge_is_welcomed(owner: Client) -> None:
    page = text_of(owner.get(HOME))
    assert "Welcome, " in page
    assert "Today" not in page


def test_a_closed_shop_reads_that_it_is_closed(owner: Client, shop: NewMerchant) -> None:
    Merchant.objects.filter(pk=shop.merchant.pk).update(status="closed")
    page = text_of(owner.get(HOME))
    assert ("This account is closed" in page, "Welcome, " in page, "Make a link" in page) == (True, False, False)


def test_nothing_of_another_merchant_is_counted(other_api: Api, house: House, owner: Client) -> None:
    before = words_of(owner.get(HOME))
    other_api.charge(DECLINED, 77_700, description="Theirs")
    other_api.charge(APPROVED, 88_800)
    assert words_of(owner.get(HOME)).replace(", 0 d", "") == before.replace(", 0 d", "")


def test_the_account_menu_says_the_role_and_switches_between_merchants(
    shop: NewMerchant, other_shop: NewMerchant, house: House
) -> None:
    user = member(shop.merchant, Role.FINANCE, "nena")
    member(other_shop.merchant, Role.OWNER, "nena")
    client = signed_in(user)
    client.post(reverse("admin:switch_merchant", "config.merchant_urls"), {"merchant": shop.merchant.pk.hex})
    assert f"Finance at {shop.merchant.title}" in words_of(client.get(HOME))


def test_pages_of_errors_lead_back_to_this_site(owner: Client) -> None:
    missing = owner.get("/merchant/nowhere/", headers={"Accept": "text/html"})
    assert 'href="/merchant/">Go to the first page' in missing.content.decode()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", [*WAYS.values(), FILIPINO | WAYS["phone"]], ids=[*WAYS, "filipino"])
def test_home_lists_and_a_payout_are_accessible_and_fit_a_phone(
    way: dict[str, Any],
    office: Office,  # noqa: F811
    house: House,
    api: Api,
) -> None:
    settled(api, 30_000)
    days_pass(1)
    give_account(house.shop.merchant)
    paid = paid_out(give_schedule(house.shop.merchant))
    tab = office.tab_of_user(member(house.shop.merchant), bypass_csp=True, **way)
    for page in ("", "payments/charge/", "payments/refund/", f"payments/payout/{paid.pk}/change/"):
        address = f"{HOME}{page}"
        tab.goto(address)
        assert grave_faults(tab) == [], address
        if "viewport" in way:
            assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], address
