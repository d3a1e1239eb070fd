"""Merchants that operators make, and the terms that they change: by the same verbs as the commands."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from payments import sourcetypes
from payments.domain.merchants import terms
from payments.domain.merchants.merchants import NewMerchant, valid_webhook_secrets
from payments.models import AuditEntry, Merchant
from tests.admin.actions import REASON, act, form_of
from tests.admin.conftest import text_of
from tests.admin.test_pages import page_of
from tests.client import Api
from tests.factories import MerchantFactory

ADD = reverse("admin:payments_merchant_add")
SHOWN = re.compile(r"<dt>(\w+)</dt><dd><code>(.+?)</code></dd>")


def newest() -> Merchant:
    return Merchant.objects.latest("pk")


def test_a_new_merchant_is_shown_with_keys_that_work(operator: Client) -> None:
    answer = operator.post(ADD, form_of(operator, ADD) | {"title": "Tindahan Ñ"})
    shown = dict(SHOWN.findall(text_of(answer)))
    assert set(shown) == {"ID", "sk_test", "pk_test", "pk_live", "whsec_test", "whsec_live"}
    assert Api(shown["sk_test"]).get("/me").json()["title"] == "Tindahan Ñ"
    assert "no-store" in answer["Cache-Control"]
    assert AuditEntry.objects.about(newest()).get().reason == REASON


def test_a_form_that_is_sent_again_makes_no_second_merchant(operator: Client) -> None:
    form = form_of(operator, ADD) | {"title": "Tindahan"}
    text_of(operator.post(ADD, form))
    assert operator.post(ADD, form)["Location"] == page_of(newest())
    assert Merchant.objects.count() == 1


@pytest.mark.parametrize(
    "said",
    [{"title": ""}, {"title": "東京"}, {"title": "Sari", "statement_descriptor": "A*"}],
    ids=["no title", "nothing plain", "not plain"],
)
def test_a_merchant_that_cannot_be_is_refused_and_said(said: dict[str, str], operator: Client) -> None:
    assert "errorlist" in text_of(operator.post(ADD, form_of(operator, ADD) | said))
    assert not Merchant.objects.exists()


def set_fee(operator: Client, merchant: Merchant, percent: str, fixed: str, currency: str = "PHP") -> Any:
    said = {"source_type": "card", "currency": currency, "percent": percent, "fixed": fixed}
    return act(operator, merchant, "set_fee", **said)


def test_a_fee_is_typed_as_people_write_it(operator: Client, shop: NewMerchant) -> None:
    assert set_fee(operator, shop.merchant, "3.5", "1,015.00").status_code == 302
    assert newest().rates == {"card": {"PHP": {"basis_points": 350, "fixed": 101_500}}}
    entry = AuditEntry.objects.latest("number")
    assert (entry.fields, entry.detail, entry.reason) == (["rates"], "card in PHP", REASON)


@pytest.mark.parametrize(
    ("percent", "fixed", "currency"),
    [
        ("100.01", "0", "PHP"),
        ("-1", "0", "PHP"),
        ("1.234", "0", "PHP"),
        ("1", "1.5", "JPY"),
        ("1", "9999999999", "PHP"),
    ],
    ids=["above the amount", "below nothing", "part of a basis point", "part of a yen", "above all amounts"],
)
def test_a_fee_that_nobody_can_be_charged_is_refused(
    percent: str, fixed: str, currency: str, operator: Client, shop: NewMerchant
) -> None:
    assert "errorlist" in text_of(set_fee(operator, shop.merchant, percent, fixed, currency))
    assert newest().rates == {}


def test_a_fee_is_removed(operator: Client, shop: NewMerchant) -> None:
    set_fee(operator, shop.merchant, "3.5", "15")
    assert act(operator, shop.merchant, "remove_fee", fee="card in PHP").status_code == 302
    assert newest().rates == {}


def test_ways_to_pay_are_switched_and_only_these(operator: Client, shop: NewMerchant) -> None:
    others = [name for name in sourcetypes.NAMES if name != "gcash"]
    said = {"test": others, "live": sourcetypes.NAMES}
    assert act(operator, shop.merchant, "set_payment_methods", **said).status_code == 302
    assert newest().payment_method_settings == {"gcash": {"enabled": True, "test": False}}
    entry = AuditEntry.objects.latest("number")
    assert (entry.detail, entry.reason) == ("gcash off in test mode", REASON)


def test_a_type_that_is_off_in_one_mode_is_on_in_the_other(operator: Client, shop: NewMerchant) -> None:
    terms.set_payment_method(shop.merchant, "gcash", False, livemode=False)
    assert Api(shop.keys["sk_test"]).post("/sources/", {"type": "gcash"}).status_code == 422
    switches = Merchant.objects.get().payment_method_settings
    assert [terms.is_enabled(switches, "gcash", livemode) for livemode in (False, True)] == [False, True]


def test_the_page_offers_the_ways_that_are_taken(operator: Client, shop: NewMerchant) -> None:
    act(operator, shop.merchant, "set_payment_methods", test=["card"], live=["maya"])
    text = text_of(operator.get(reverse("admin:payments_merchant_set_payment_methods", args=[shop.merchant.pk])))
    assert re.findall(r'value="(\w+)" [^>]*checked', text) == ["card", "maya"]


@pytest.mark.parametrize(("said", "budget"), [("500", 500), ("", None)], ids=["a number", "as usual"])
def test_the_decline_budget_is_set(said: str, budget: int | None, operator: Client) -> None:
    merchant = MerchantFactory(decline_budget=7)
    assert act(operator, merchant, "set_decline_budget", budget=said).status_code == 302
    assert newest().decline_budget == budget


def test_a_webhook_secret_is_rolled_and_the_old_one_signs_along(operator: Client, shop: NewMerchant) -> None:
    answer = act(operator, shop.merchant, "roll_webhook_secret", mode="test", hours="24")
    [shown] = re.findall(r"<code>(whsec_.+?)</code>", text_of(answer))
    assert valid_webhook_secrets(shop.merchant, livemode=False) == [shown, shop.webhook_secrets["whsec_test"]]
    assert valid_webhook_secrets(shop.merchant, livemode=True) == [shop.webhook_secrets["whsec_live"]]
    assert shown not in text_of(operator.get(page_of(shop.merchant)))


def test_a_webhook_secret_without_overlap_signs_alone(operator: Client, shop: NewMerchant) -> None:
    act(operator, shop.merchant, "roll_webhook_secret", mode="live", hours="0")
    assert len(valid_webhook_secrets(shop.merchant, livemode=True)) == 1
