"""By which route a charge of live mode goes, and what is refused before anything is written."""

from typing import Any

import pytest
from pytest_django import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, Charge, Source
from payments.providers.base import Capabilities
from tests.client import Api, error_of, made
from tests.routing.doubles import Psp, account_at, installed, route_to

pytestmark = pytest.mark.django_db


def asked(charge: dict[str, Any]) -> list[tuple[str, str]]:
    """By whom the charge went, and why."""
    return list(Attempt.objects.filter(kind="authorize").order_by("id").values_list("provider", "chosen"))


def test_without_a_route_no_source_is_made(live: Api, north: Psp, shop: NewMerchant) -> None:
    account_at(north, shop.merchant)

    refusal = error_of(live.post("/sources/", {"type": "gcash"}))
    assert (refusal["code"], refusal["param"]) == ("source_type_unavailable", "type")


def test_a_charge_goes_by_the_route_of_its_type(live: Api, north: Psp, shop: NewMerchant) -> None:
    route = route_to(account_at(north, shop.merchant))
    charge = live.charge()

    attempt = Attempt.objects.get()
    assert (charge["status"], charge["livemode"]) == ("succeeded", True)
    assert (attempt.provider, attempt.route, attempt.account) == ("north", route, route.account)
    assert asked(charge) == [("north", "the only route that takes it")]


def test_what_follows_goes_by_the_same_route(live: Api, north: Psp, south: Psp, shop: NewMerchant) -> None:
    route = route_to(account_at(north, shop.merchant))
    held = live.held()
    # A better one that is new since then.
    route_to(account_at(south, shop.merchant), position=0)
    made(live.post(f"/charges/{held['id']}/capture"))
    made(live.post(f"/charges/{held['id']}/refund", {"amount": 1000}))

    assert set(Attempt.objects.values_list("provider", "route")) == {("north", route.id)}
    assert live.read(held)["amount_refunded"] == 1000


def test_the_first_in_order_is_asked(live: Api, north: Psp, south: Psp, shop: NewMerchant) -> None:
    route_to(account_at(north, shop.merchant), position=2)
    route_to(account_at(south, shop.merchant), position=1)

    assert asked(live.charge()) == [("south", "the first of 2 routes that take it")]


@pytest.mark.parametrize(
    "column",
    [{"currency": "USD"}, {"currency": "PHP", "amount_min": 10_001}, {"currency": "PHP", "amount_max": 9_999}],
    ids=str,
)
def test_a_route_takes_what_is_within_its_bounds(
    live: Api, north: Psp, south: Psp, shop: NewMerchant, column: dict[str, Any]
) -> None:
    route_to(account_at(north, shop.merchant), position=1, **column)
    route_to(account_at(south, shop.merchant), position=2, currency="PHP", amount_min=10_000, amount_max=10_000)

    assert asked(live.charge(amount=10_000)) == [("south", "the only route that takes it")]


def test_an_amount_outside_of_all_routes_uses_nothing_up(live: Api, north: Psp, shop: NewMerchant) -> None:
    north.able = Capabilities(hold=True, amounts={"PHP": (2_000, 70_000)})
    route_to(account_at(north, shop.merchant), currency="PHP", amount_min=5_000)
    source = live.source()
    body = {"currency": "PHP", "source": source, "description": "Halo-halo"}

    for amount in (4_999, 70_001):
        refusal = error_of(live.post("/charges/", body | {"amount": amount}, key="once"))
        assert (refusal["type"], refusal["param"]) == ("validation_error", "amount")
    assert not Charge.objects.exists()
    assert not Source.objects.get().used
    made(live.post("/charges/", body | {"amount": 5_000}, key="once"))


def test_a_currency_that_nobody_takes_is_refused(live: Api, north: Psp, shop: NewMerchant) -> None:
    north.able = Capabilities(hold=True, amounts={"PHP": (1, 70_000)})
    route_to(account_at(north, shop.merchant))
    body = {"currency": "USD", "amount": 5_000, "source": live.source(), "description": "Halo-halo"}

    assert live.post("/charges/", body).status_code == 422


@pytest.mark.parametrize("whose", ["route", "connector"])
def test_a_hold_that_the_way_cannot_do_is_refused(live: Api, north: Psp, shop: NewMerchant, whose: str) -> None:
    north.able = Capabilities(hold=whose == "route")
    route_to(account_at(north, shop.merchant), hold=whose == "connector")
    body = {"currency": "PHP", "amount": 5_000, "source": live.source(), "description": "x", "capture": False}

    refusal = error_of(live.post("/charges/", body))
    assert (refusal["type"], refusal["param"]) == ("validation_error", "capture")
    assert not Charge.objects.exists()


def test_a_hold_goes_to_the_first_that_holds(live: Api, north: Psp, south: Psp, shop: NewMerchant) -> None:
    route_to(account_at(north, shop.merchant), position=1, hold=False)
    route_to(account_at(south, shop.merchant), position=2)

    assert asked(live.held()) == [("south", "the only route that takes it")]


@pytest.mark.parametrize(
    ("can", "verb", "body", "code"),
    [
        (Capabilities(hold=True, refund=False), "refund", None, "charge_not_refundable"),
        (Capabilities(hold=True, partial_refund=False), "refund", {"amount": 1}, "charge_not_refundable"),
        (Capabilities(hold=True, void_captured=False), "void", None, "charge_not_voidable"),
    ],
    ids=["refund", "partial refund", "void of a captured charge"],
)
def test_what_the_provider_cannot_do_is_refused_with_nothing_written(
    live: Api, north: Psp, shop: NewMerchant, can: Capabilities, verb: str, body: dict[str, Any] | None, code: str
) -> None:
    route_to(account_at(north, shop.merchant))
    charge = live.charge()
    north.able = can

    answer = live.post(f"/charges/{charge['id']}/{verb}", body, key="once")
    assert (answer.status_code, error_of(answer)["code"]) == (409, code)
    assert Attempt.objects.count() == 1
    assert live.read(charge) == charge


def test_a_provider_that_refunds_as_a_whole_only_does_that(live: Api, north: Psp, shop: NewMerchant) -> None:
    north.able = Capabilities(hold=True, partial_refund=False)
    route_to(account_at(north, shop.merchant))
    charge = live.charge()

    made(live.post(f"/charges/{charge['id']}/refund"))
    assert live.read(charge)["status"] == "refunded"


def test_a_hold_is_voided_where_captured_charges_are_not(live: Api, north: Psp, shop: NewMerchant) -> None:
    north.able = Capabilities(hold=True, void_captured=False)
    route_to(account_at(north, shop.merchant))
    held = live.held()

    made(live.post(f"/charges/{held['id']}/void"))
    assert live.read(held)["status"] == "voided"


@pytest.mark.parametrize("what", ["route", "account"])
def test_what_is_switched_off_is_not_asked(live: Api, north: Psp, shop: NewMerchant, what: str) -> None:
    route = route_to(account_at(north, shop.merchant))
    source, charge = live.source(), live.charge()
    switched = route if what == "route" else route.account
    switched.enabled = False
    switched.save()

    body = {"currency": "PHP", "amount": 5_000, "source": source, "description": "Halo-halo"}
    assert error_of(live.post("/charges/", body))["code"] == "source_type_unavailable"
    # What went by it before is ended by it.
    made(live.post(f"/charges/{charge['id']}/refund"))


def test_routes_are_of_one_merchant(live: Api, north: Psp, other_shop: NewMerchant) -> None:
    route_to(account_at(north, other_shop.merchant))

    assert live.post("/sources/", {"type": "gcash"}).status_code == 422


def test_a_connector_that_is_not_installed_any_more_takes_nothing(live: Api, shop: NewMerchant) -> None:
    with installed(Psp("gone")) as gone:
        route_to(account_at(gone, shop.merchant), "gcash")

    assert live.post("/sources/", {"type": "gcash"}).status_code == 422


def test_live_cards_are_off_until_somebody_answers_for_them(
    live: Api, north: Psp, shop: NewMerchant, settings: Settings
) -> None:
    account = account_at(north, shop.merchant)
    route_to(account)
    route_to(account, "gcash")
    settings.LIVE_CARDS_ATTESTED = False
    card = {"number": "4000000000003055", "name": "Juan", "exp_month": "12", "exp_year": "2039", "cvc": "123"}

    refusal = error_of(live.post("/sources/", {"type": "card", "card": card}))
    assert refusal["code"] == "source_type_unavailable"
    assert live.wallet("gcash")


def test_the_account_shows_what_its_routes_take(live: Api, api: Api, north: Psp, shop: NewMerchant) -> None:
    account = account_at(north, shop.merchant)
    route_to(account)
    route_to(account, "gcash")
    shop.merchant.payment_method_settings = {"gcash": {"enabled": False}}
    shop.merchant.save()

    shown = made(live.get("/me"))["payment_method_settings"]
    statuses = {name: shown[name]["status"] for name in ("card", "gcash", "qrph")}
    assert statuses == {"card": "approved", "gcash": "rejected", "qrph": "pending"}
    in_test = made(api.get("/me"))["payment_method_settings"]
    assert [name for name, method in in_test.items() if method["status"] != "approved"] == ["gcash"]


def test_test_mode_goes_by_no_route(api: Api, live: Api, north: Psp, shop: NewMerchant) -> None:
    route_to(account_at(north, shop.merchant))
    api.charge()

    attempt = Attempt.objects.get()
    assert (attempt.provider, attempt.account, attempt.route, attempt.chosen) == ("simulator", None, None, "")


def test_the_provider_learns_who_pays_and_since_when(live: Api, north: Psp, shop: NewMerchant) -> None:
    route_to(account_at(north, shop.merchant), "gcash")
    billing = {"name": "Ana Cruz", "email": "ana@example.com", "phone_number": "09171234567"}
    live.charge_source(live.wallet(owner={"billing": billing}))

    [payment] = north.asked
    assert (payment.payer.name, payment.payer.email, payment.payer.phone) == tuple(billing.values())
    assert payment.asked_at == Attempt.objects.get().created_at


def test_damaged_credentials_of_one_account_keep_nobody_from_the_next(
    live: Api, north: Psp, south: Psp, shop: NewMerchant
) -> None:
    route_to(damaged := account_at(north, shop.merchant), position=1)
    route_to(account_at(south, shop.merchant), position=2)
    *sealed, last = bytes(damaged.sealed_credentials)
    damaged.sealed_credentials = bytes([*sealed, last ^ 1])
    damaged.save()

    assert asked(live.charge()) == [("south", "the only route that takes it")]
