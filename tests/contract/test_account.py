"""What a merchant reads about itself."""

from datetime import timedelta
from secrets import token_hex
from typing import Any

import pytest

from payments import clock
from payments.domain.merchants.api_keys import create_key, find_key, revoke_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.routing.provider_accounts import open_account
from payments.models import ApiKey, Merchant, PayoutAccount, Route
from tests.client import Api, made
from tests.contract.shapes import ORGANIZATION, faults_in
from tests.payouts.stories import give_account, give_schedule

SECRETS = {"sk_test_key": "sk_test", "sk_live_key": "sk_live"}
PUBLIC = {"pk_test_key": "pk_test", "pk_live_key": "pk_live"}


@pytest.fixture
def me(api: Api) -> dict[str, Any]:
    return made(api.get("/me"))


def test_me_shows_these_members_and_no_others(me: dict[str, Any]) -> None:
    assert faults_in(me, ORGANIZATION) == []


def test_me_names_the_merchant(me: dict[str, Any], shop: NewMerchant) -> None:
    merchant = shop.merchant
    assert (me["title"], me["account_name"], me["statement_descriptor"]) == (
        *(merchant.title, merchant.account_name),
        "SARI STORE",
    )


@pytest.mark.parametrize(("member", "name"), PUBLIC.items())
def test_publishable_keys_are_shown_whole(me: dict[str, Any], shop: NewMerchant, member: str, name: str) -> None:
    assert me[member] == shop.keys[name]


@pytest.mark.parametrize(("member", "name"), SECRETS.items())
def test_secret_keys_are_masked_to_their_last_four(
    me: dict[str, Any], shop: NewMerchant, member: str, name: str
) -> None:
    shown = str(me[member])
    assert shown.endswith(shop.keys[name][-4:])
    assert shop.keys[name][-5:] not in shown


def test_me_differs_between_the_modes_by_the_ways_to_pay_alone(me: dict[str, Any], live_api: Api) -> None:
    live_me = made(live_api.get("/me"))

    assert {name for name in me if live_me[name] != me[name]} == {"payment_method_settings"}


def test_me_is_somebody_else_with_another_key(me: dict[str, Any], other_api: Api) -> None:
    other = made(other_api.get("/me"))
    assert other["id"] != me["id"]
    assert not [member for member in (*SECRETS, *PUBLIC) if other[member] == me[member]]


def test_keys_are_texts_even_where_there_are_none(api: Api, shop: NewMerchant) -> None:
    for name in ("sk_live", "pk_live", "pk_test"):
        revoke_key(find_key(shop.keys[name]))
    assert faults_in(made(api.get("/me")), ORGANIZATION) == []


def test_a_revoked_publishable_key_is_not_handed_out(api: Api, shop: NewMerchant) -> None:
    _, successor = create_key(shop.merchant, False, ApiKey.Kind.PUBLISHABLE)
    revoke_key(find_key(shop.keys["pk_test"]))
    assert made(api.get("/me"))["pk_test_key"] == successor


def test_restricted_keys_are_not_listed(me: dict[str, Any], api: Api, shop: NewMerchant) -> None:
    create_key(shop.merchant, False, ApiKey.Kind.RESTRICTED, rights=["account:read"])
    assert made(api.get("/me")) == me


def test_ping_is_an_empty_object(api: Api) -> None:
    response = api.get("/ping")
    assert (response.status_code, response.content) == (200, b"{}")


def test_what_nobody_has_set_is_null(me: dict[str, Any]) -> None:
    assert me["business_address"] is None
    assert {me["branding"]["icon"], me["branding"]["logo"], *me["payout_settings"].values()} == {None}


@pytest.mark.parametrize("branding", [{}, {"brand_color": "red", "accent_color": None, "use_logo": "no", "logo": ""}])
def test_a_branding_that_nobody_has_set_has_our_own_colours(api: Api, branding: dict[str, Any]) -> None:
    Merchant.objects.update(branding=branding)
    own = {"icon": None, "logo": None, "use_logo": False, "brand_color": "#0b5f59", "accent_color": "#ffd84d"}
    assert made(api.get("/me"))["branding"] == own


def test_what_is_set_is_shown(api: Api) -> None:
    Merchant.objects.update(business_address="12 Session Road", branding={"brand_color": "#1a73e8"})
    me = made(api.get("/me"))
    assert (me["business_address"], me["branding"]["brand_color"]) == ("12 Session Road", "#1a73e8")


def test_payouts_are_those_of_the_mode_in_pesos_and_the_account_is_masked(
    api: Api, live_api: Api, shop: NewMerchant
) -> None:
    give_account(shop.merchant, "0012345678")
    give_account(shop.merchant, "999", currency="USD")
    give_schedule(shop.merchant, "manual")
    me = made(api.get("/me"))
    assert faults_in(me, ORGANIZATION) == []
    assert me["payout_settings"] == {
        "schedule": "manual",
        "delivery_type": "standard",
        "bank_code": "BNORPHMM",
        "account_number": "****5678",
        "account_name": "Sari Store",
    }
    assert set(made(live_api.get("/me"))["payout_settings"].values()) == {None}


@pytest.mark.parametrize("interval", ["daily", "weekly", "monthly"])
def test_a_schedule_by_the_calendar_is_automatic(api: Api, shop: NewMerchant, interval: str) -> None:
    give_schedule(shop.merchant, interval)
    settings = made(api.get("/me"))["payout_settings"]
    assert (settings["schedule"], settings["account_number"]) == ("automatic", None)


def test_an_account_is_shown_once_it_is_in_effect(api: Api, shop: NewMerchant) -> None:
    give_account(shop.merchant, "0012345678")
    later = give_account(shop.merchant, "0087654321")
    PayoutAccount.objects.filter(id=later.id).update(effective_at=clock.now() + timedelta(hours=24))
    assert made(api.get("/me"))["payout_settings"]["account_number"] == "****5678"
    PayoutAccount.objects.filter(id=later.id).update(effective_at=clock.now())
    assert made(api.get("/me"))["payout_settings"]["account_number"] == "****4321"


def test_in_test_mode_every_type_is_approved_and_goes_to_the_simulator(me: dict[str, Any]) -> None:
    methods = me["payment_method_settings"]
    assert {method["status"] for method in methods.values()} == {"approved"}
    assert {method["gateway"]["id"] for method in methods.values()} == {"simulator"}


def test_in_live_mode_a_type_without_a_route_is_pending(live_api: Api) -> None:
    methods = made(live_api.get("/me"))["payment_method_settings"]
    assert {(method["status"], method["gateway"]) for method in methods.values()} == {("pending", None)}


def test_a_live_type_shows_its_first_provider_and_the_account_there(live_api: Api, shop: NewMerchant) -> None:
    credentials = {"api_key": token_hex(16), "hmac_key": token_hex(32)}
    account = open_account(shop.merchant, True, "adyen", "Ours", credentials, {"merchant_account": "SariPH"})
    Route.objects.create(account=account, source_type="gcash", position=1)
    gcash = made(live_api.get("/me"))["payment_method_settings"]["gcash"]
    assert (gcash["mid"], gcash["gateway"]) == ("SariPH", {"id": "adyen", "name": "Adyen"})
    assert gcash["status"] == "approved"
