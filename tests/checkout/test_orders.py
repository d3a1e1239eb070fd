"""What a session may be ordered with: bounds and refusals at the edge of the API."""

import json
from datetime import timedelta
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.merchants.pictures import set_picture
from payments.ids import new_id
from payments.models import Checkout, Merchant
from payments.pages.payment import shown_merchant
from payments.rendering.brand import own_branding
from tests.checkout.cast import ORDER, opened
from tests.client import Api, error_of, made
from tests.providers.evidence import image

pytestmark = pytest.mark.django_db
ITEM = ORDER["line_items"][0]


def in_hours(hours: float) -> int:
    return int((clock.now() + timedelta(hours=hours)).timestamp())


def items(**members: Any) -> list[dict[str, Any]]:
    return [{**ITEM, **members}]


KEEPING: dict[str, Any] = {"mode": "save_card", "payment_method_types": ["card"], "line_items": None}
BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"success_url": "javascript:alert(1)"}, "success_url", "invalid_url"),
    ({"success_url": "https://maria@shop.example/"}, "success_url", "user_info"),
    ({"success_url": "https://shop.example/\nnext"}, "success_url", "invalid_url"),
    ({"success_url": "https://shop.example/{CHECKOUT_SESSION_ID}" + "a" * 2042}, "success_url", "too_long"),
    ({"cancel_url": None}, "cancel_url", "missing"),
    ({"currency": "XXX"}, "currency", "invalid_choice"),
    ({"line_items": None}, "line_items", "missing"),
    ({"line_items": []}, "line_items", "too_few"),
    ({"line_items": items() * 101}, "line_items", "too_many"),
    ({"line_items": items(name="")}, "line_items.0.name", "too_short"),
    ({"line_items": items(name="a" * 256)}, "line_items.0.name", "too_long"),
    ({"line_items": items(amount=-1)}, "line_items.0.amount", "too_small"),
    ({"line_items": items(amount=100_000_000_000)}, "line_items.0.amount", "too_big"),
    ({"line_items": items(amount="100")}, "line_items.0.amount", "invalid_type"),
    ({"line_items": items(quantity=1_000_001)}, "line_items.0.quantity", "too_big"),
    ({"line_items": items(description="a" * 1001)}, "line_items.0.description", "too_long"),
    ({"line_items": items(image="http://shop.example/a.png")}, "line_items.0.image", "not_https"),
    ({"line_items": items(remaining=1)}, "line_items.0.remaining", "unknown_parameter"),
    ({"line_items": items(quantity=0)}, "line_items", "total_out_of_range"),
    ({"line_items": items(amount=99_999_999_999)}, "line_items", "total_out_of_range"),
    ({"payment_method_types": []}, "payment_method_types", "too_few"),
    ({"payment_method_types": ["card", "card"]}, "payment_method_types.1", "repeated"),
    ({"payment_method_types": ["cash"]}, "payment_method_types.0", "invalid_choice"),
    ({"mode": "rent"}, "mode", "invalid_choice"),
    ({"mode": "setup"}, "payment_method_types", "card_only"),
    ({"mode": "save_card", "payment_method_types": ["card"]}, "line_items", "not_in_mode"),
    ({"mode": "setup", "payment_method_types": ["card"], "submit_type": "donate"}, "submit_type", "not_in_mode"),
    ({"bank_code": "a" * 51}, "bank_code", "too_long"),
    ({"client_reference_id": "a" * 256}, "client_reference_id", "too_long"),
    ({"customer_phone": "1234"}, "customer_phone", "too_short"),
    ({"customer_phone": "1" * 26}, "customer_phone", "too_long"),
    ({"customer_name": "a" * 51}, "customer_name", "too_long"),
    ({"customer_email": "nobody"}, "customer_email", "invalid_email"),
    ({"description": "a" * 256}, "description", "too_long"),
    ({"locale": "tl"}, "locale", "invalid_choice"),
    ({"submit_type": "buy"}, "submit_type", "invalid_choice"),
    ({"amount": 24_999}, "amount", "other_amount"),
    ({"amount": 0}, "amount", "other_amount"),
    (KEEPING | {"amount": 1}, "amount", "other_amount"),
    ({"require_auth": "yes"}, "require_auth", "invalid_type"),
    ({"billing_address_collection": "always"}, "billing_address_collection", "invalid_choice"),
    ({"shipping_address_collection": {"allowed_countries": []}}, "shipping_address_collection.allowed_countries", "x"),
    ({"branding": {"primary_color": "red"}}, "branding.primary_color", "pattern"),
    ({"branding": {"logo": "http://shop.example/logo.png"}}, "branding.logo", "not_https"),
    ({"colour": "#000000"}, "colour", "unknown_parameter"),
]


@pytest.mark.long
@pytest.mark.parametrize(("members", "param", "code"), BAD, ids=[f"{param}-{code}" for _, param, code in BAD])
def test_a_bad_order_is_refused_with_400(api: Api, members: dict[str, Any], param: str, code: str) -> None:
    refused = api.post("/checkout_sessions/", {**ORDER, **members})
    error = error_of(refused)
    assert (refused.status_code, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert error["code"] == code or code == "x"
    assert json.loads(refused.content)["message"] == error["message"]
    assert param in error["errors"]


GOOD: list[dict[str, Any]] = [
    {"success_url": "https://shop.example/thanks?id={CHECKOUT_SESSION_ID}"},
    {"success_url": "https://shop.example/{CHECKOUT_SESSION_ID}" + "a" * 2041},
    {"success_url": "http://localhost:3000/ok"},
    {"line_items": items() * 100},
    {"line_items": items(name="Sorbete ng ube 🍧", description=None, image=None, currency="USD")},
    {"line_items": items(amount=0) + items()},
    {"line_items": items(amount=99_999_999_999, quantity=1)},
    {"metadata": []},
    {"amount": 25_000},
    KEEPING | {"amount": 0},
    {"bank_code": "b" * 50, "description": "d" * 255, "client_reference_id": "r" * 255},
    {"customer_phone": "12345", "customer_name": "a" * 50},
    {"mode": "setup", "payment_method_types": ["card"], "submit_type": "pay"},
    {"branding": {"use_logo": True, "primary_color": "#1a73e8"}},
    {"shipping_address_collection": {"allowed_countries": ["PH", "SG"]}, "billing_address_collection": "required"},
    {"shipping_address_collection": None, "bank_code": None, "locale": "fil", "submit_type": "donate"},
]


@pytest.mark.long
@pytest.mark.parametrize("members", GOOD)
def test_an_order_at_its_bounds_is_taken_and_shown_as_it_was_sent(api: Api, members: dict[str, Any]) -> None:
    session = opened(api, **members)
    for name in ("success_url", "locale", "customer_phone", "bank_code", "submit_type", "client_reference_id"):
        assert name not in members or session[name] == members[name]


def test_an_empty_text_without_a_least_length_counts_as_none(api: Api) -> None:
    session = opened(api, bank_code="", customer_name="")
    assert (session["bank_code"], session["customer_name"]) == (None, None)


@pytest.mark.parametrize(("seconds", "status"), [(1799, 400), (1800, 201), (86_400, 201), (86_401, 400)])
def test_both_bounds_of_the_end_are_taken_in_whole_seconds(api: Api, seconds: int, status: int) -> None:
    moment = clock.now().replace(microsecond=900_000)
    with clock.at(moment):
        order = {**ORDER, "expires_at": int(moment.timestamp()) + seconds}
        assert api.post("/checkout_sessions/", order).status_code == status


@pytest.mark.parametrize(("hours", "code"), [(0.49, "too_early"), (24.1, "too_late")])
def test_a_session_ends_in_30_minutes_to_24_hours(api: Api, hours: float, code: str) -> None:
    refused = api.post("/checkout_sessions/", {**ORDER, "expires_at": in_hours(hours)})
    assert error_of(refused)["code"] == code
    assert opened(api, expires_at=in_hours(1))["expires_at"].endswith("Z")


def test_a_way_to_pay_that_is_switched_off_is_named(api: Api, shop: Any) -> None:
    shop.merchant.payment_method_settings = {"gcash": {"enabled": False}}
    shop.merchant.save()
    error = error_of(api.post("/checkout_sessions/", ORDER))
    assert (error["code"], error["param"]) == ("source_type_unavailable", "payment_method_types[1]")


def test_an_unknown_session_is_not_found_with_a_message_on_top(api: Api) -> None:
    missing = api.get(f"/checkout_sessions/cs_{'0' * 32}")
    body = json.loads(missing.content)
    assert (missing.status_code, body["error"]["type"]) == (404, "not_found")
    assert body["message"] == body["error"]["message"]


def test_sessions_of_other_merchants_and_of_the_other_mode_are_not_there(
    api: Api, other_api: Api, live_api: Api
) -> None:
    session = opened(api)
    assert {each.get(f"/checkout_sessions/{session['id']}").status_code for each in (other_api, live_api)} == {404}
    assert made(other_api.get("/checkout_sessions/"))["data"] == []


def test_the_list_has_the_newest_first_and_further_pages(api: Api) -> None:
    ids = [opened(api)["id"] for _ in range(3)]
    first = made(api.get("/checkout_sessions/", limit=2))
    assert [session["id"] for session in first["data"]] == [ids[2], ids[1]]
    rest = made(api.get("/checkout_sessions/", limit=2, start_after=ids[1]))
    assert [session["id"] for session in rest["data"]] == [ids[0]]


def test_branding_that_is_not_given_is_the_merchants(api: Api, shop: Any) -> None:
    shop.merchant.branding, shop.merchant.logo = {"brand_color": "#112233", "accent_color": "#445566"}, new_id()
    shop.merchant.save()
    branding = opened(api)["branding"]
    assert branding["logo"].endswith(f"/pictures/{shop.merchant.logo}.png")
    assert (branding["primary_color"], branding["secondary_color"]) == ("#112233", "#445566")
    own = opened(api, branding={"primary_color": "#000000"})["branding"]
    assert (own["primary_color"], own["logo"]) == ("#000000", None)


def test_a_copied_address_of_an_uploaded_logo_stands_for_the_one_that_is_there(
    api: Api, shop: Any, settings: Settings
) -> None:
    settings.PUBLIC_URL = "https://pay.example"
    set_picture(shop.merchant, "logo", image("PNG", (30, 30)))
    copied = made(api.get("/me"))["branding"]["logo"]
    session = opened(api, branding={"logo": copied, "use_logo": True, "primary_color": "#000000"})
    assert session["branding"]["logo"] == copied
    set_picture(shop.merchant, "logo", image("PNG", (40, 40)))
    replaced = own_branding(Merchant.objects.get(pk=shop.merchant.pk))["logo"]
    shown = made(api.get(f"/checkout_sessions/{session['id']}"))["branding"]
    assert (shown["logo"], shown["primary_color"], replaced != copied) == (replaced, "#000000", True)
    checkout = Checkout.objects.get()
    assert shown_merchant(checkout.merchant, checkout.order["branding"])["brand"].logo == replaced
    set_picture(shop.merchant, "logo", None)
    assert made(api.get(f"/checkout_sessions/{session['id']}"))["branding"]["logo"] is None


def test_a_publishable_key_makes_no_session(shop: Any) -> None:
    refused = Api(shop.keys["pk_test"]).post("/checkout_sessions/", ORDER)
    assert (refused.status_code, error_of(refused)["code"]) == (403, "secret_key_required")


EMPTY_TEXTS = ("bank_code", "client_reference_id", "customer_email", "customer_name", "customer_phone", "description")


def test_empty_texts_of_an_order_and_its_items_count_as_absent(api: Api) -> None:
    branding = {"icon": "", "logo": "", "primary_color": ""}
    given = dict.fromkeys(EMPTY_TEXTS, "") | {"branding": branding, "line_items": items(description="", image="")}
    session = made(api.post("/checkout_sessions/", ORDER | given))
    assert {name: session[name] for name in EMPTY_TEXTS} == dict.fromkeys(EMPTY_TEXTS)
    assert (session["line_items"][0]["description"], session["line_items"][0]["image"]) == (None, None)
    assert session["branding"]["icon"] is None
    refused = error_of(api.post("/checkout_sessions/", ORDER | {"success_url": "", "line_items": items(name="")}))
    assert refused["errors"].keys() == {"success_url", "line_items.0.name"}


@pytest.mark.parametrize("given", [{"line_items": []}, {"line_items": None}])
def test_a_session_that_only_keeps_a_card_may_have_an_empty_list_of_items(api: Api, given: dict[str, Any]) -> None:
    assert made(api.post("/checkout_sessions/", ORDER | KEEPING | given))["line_items"] == []


def test_the_amount_of_an_item_is_spoken_of_as_one(api: Api) -> None:
    refused = error_of(api.post("/checkout_sessions/", ORDER | {"line_items": items(amount=10.5)}))
    assert "the amount of one such item" in refused["errors"]["line_items.0.amount"][0]


@pytest.mark.parametrize(
    ("members", "instead"),
    [
        ({"ui_mode": "hosted"}, "kaha"),
        ({"return_url": "https://shop.example"}, "success_url"),
        ({"data": {}}, "itself"),
    ],
)
def test_names_of_other_services_are_answered_with_what_to_use(api: Api, members: dict[str, Any], instead: str) -> None:
    [[text]] = error_of(api.post("/checkout_sessions/", ORDER | members))["errors"].values()
    assert instead in text
