"""What a merchant reads about itself, and what it has in each currency: available, pending, held."""

from datetime import timedelta
from secrets import token_hex
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.domain.merchants.api_keys import create_key, find_key, revoke_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.routing.provider_accounts import open_account
from payments.models import ApiKey, Merchant, PayoutAccount, Posting, Route
from tests.charging.elapsed_time import settle_refunds
from tests.client import REFUNDS_FAIL, Api, error_of, made
from tests.contract.shapes import ORGANIZATION, faults_in
from tests.ledger.books import charge_fees, settle
from tests.payouts.stories import give_account, give_schedule
from tests.plans import scans_of

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


NOTHING = {"available": 0, "pending": 0, "reserved": 0, "held": 0}


def balance(api: Api, currency: str = "PHP") -> dict[str, int]:
    """Return the amounts of one currency by the name of their list."""
    shown = made(api.get("/balance"))
    return {name: entry["amount"] for name in NOTHING for entry in shown[name] if entry["currency"] == currency}


def test_an_account_without_any_movement_has_nothing_in_pesos(api: Api) -> None:
    nothing = [{"amount": 0, "currency": "PHP"}]
    assert made(api.get("/balance")) == {"object": "balance", "livemode": False, **dict.fromkeys(NOTHING, nothing)}


def test_money_is_held_then_pending_then_available(api: Api, shop: NewMerchant) -> None:
    charge_fees(shop.merchant)
    charge = api.held()
    assert balance(api) == NOTHING | {"held": 10_000}

    made(api.post(f"/charges/{charge['id']}/capture", {"amount": 4_000}))
    assert balance(api) == NOTHING | {"pending": 4_000 - 155}

    settle()
    assert balance(api) == NOTHING | {"available": 4_000 - 155}


def test_a_voided_charge_leaves_nothing(api: Api, shop: NewMerchant) -> None:
    charge_fees(shop.merchant)
    for charge in (api.held(), api.charge()):
        made(api.post(f"/charges/{charge['id']}/void"))
    assert balance(api) == NOTHING


def test_a_refund_is_taken_off_at_once_and_comes_back_if_it_fails(api: Api) -> None:
    charge = api.charge(REFUNDS_FAIL)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    assert balance(api) == NOTHING | {"pending": 6_000}
    settle()
    assert balance(api) == NOTHING | {"available": 6_000}
    settle_refunds()
    assert balance(api) == NOTHING | {"available": 10_000}


def test_a_merchant_that_refunded_more_than_it_was_left_with_owes_the_fee(api: Api, shop: NewMerchant) -> None:
    charge_fees(shop.merchant)
    charge = api.charge()
    made(api.post(f"/charges/{charge['id']}/refund"))
    assert balance(api) == NOTHING | {"pending": -365}


def test_every_currency_that_was_ever_used_is_shown(api: Api) -> None:
    api.charge(currency="JPY", amount=700)
    voided = api.charge(currency="USD")
    made(api.post(f"/charges/{voided['id']}/void"))
    shown = made(api.get("/balance"))
    assert [[entry["currency"] for entry in shown[name]] for name in NOTHING] == [["JPY", "PHP", "USD"]] * 4
    assert balance(api, "JPY") == NOTHING | {"pending": 700}


@pytest.mark.parametrize("asker", ["other_api", "live_api"])
def test_nobody_sees_another_merchants_money_or_that_of_the_other_mode(
    request: pytest.FixtureRequest, api: Api, asker: str
) -> None:
    api.charge()
    other: Api = request.getfixturevalue(asker)
    assert balance(other) == NOTHING
    assert made(other.get("/balance"))["livemode"] == (asker == "live_api")


def test_a_publishable_key_may_not_read_the_balance(shop: NewMerchant) -> None:
    refusal = Api(shop.keys["pk_test"]).get("/balance")
    assert (refusal.status_code, error_of(refusal)["code"]) == (403, "secret_key_required")


def test_it_is_one_statement_that_reads_no_posting(api: Api) -> None:
    api.charge()
    copy_the_journal(times=2_000)
    with CaptureQueriesContext(connection) as captured:
        made(api.get("/balance"))
    assert not [query["sql"] for query in captured if "payments_posting" in query["sql"]]
    [sql] = [query["sql"] for query in captured if "payments_runningbalance" in query["sql"]]
    [scan] = scans_of(sql)
    assert scan["Actual Rows"] <= 16
    assert balance(api) == NOTHING | {"pending": 2_001 * 10_000}


def copy_the_journal(times: int) -> None:
    """Post the only journal again and again."""
    names = ", ".join(field.column for field in Posting._meta.concrete_fields if field.name not in ("id", "journal"))
    run(
        f"""WITH new AS MATERIALIZED (SELECT gen_random_uuid() AS uuid FROM generate_series(1, {times}))
            INSERT INTO payments_posting (id, journal, {names})
            SELECT gen_random_uuid(), new.uuid, {names} FROM payments_posting, new"""
    )


def run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
