"""What a link may be ordered with: bounds and refusals at the edge of the API."""

from typing import Any

import pytest

from tests.checkout.shelf import ITEMS, ORDER, linked
from tests.client import Api, error_of, made

pytestmark = pytest.mark.django_db


def items(**members: Any) -> list[dict[str, Any]]:
    return [{**ITEMS[0], **members}]


BAD: list[tuple[dict[str, Any], str, str]] = [
    *(({name: None}, name, "missing") for name in ORDER),
    ({"internal_name": ""}, "internal_name", "too_short"),
    ({"internal_name": "a" * 256}, "internal_name", "too_long"),
    ({"description": "a" * 1001}, "description", "too_long"),
    ({"allow_adjustable_quantity": "yes"}, "allow_adjustable_quantity", "invalid_type"),
    ({"line_items": items() * 101}, "line_items", "too_many"),
    ({"line_items": items(remaining=-1)}, "line_items.0.remaining", "too_small"),
    ({"line_items": items(remaining=1_000_001)}, "line_items.0.remaining", "too_big"),
    ({"line_items": items(quantity=0)}, "line_items", "total_out_of_range"),
    ({"expiry": "31/12/2037"}, "expiry", "pattern"),
    ({"expiry": "2037-12-31"}, "expiry", "pattern"),
    ({"expiry": "02/30/2037"}, "expiry", "pattern"),
    ({"expiry": "12/31/9999"}, "expiry", "pattern"),
    ({"expiry": "12/31/2019"}, "expiry", "past"),
    ({"expiry": 2037}, "expiry", "invalid_type"),
    ({"maximum_payments": 0}, "maximum_payments", "too_small"),
    ({"redirect_url": "javascript:alert(1)"}, "redirect_url", "invalid_url"),
    ({"mode": "payment"}, "mode", "unknown_parameter"),
    ({"linkId": "plink_1"}, "linkId", "unknown_parameter"),
]


@pytest.mark.long
@pytest.mark.parametrize(("members", "param", "code"), BAD, ids=[f"{param}-{code}" for _, param, code in BAD])
def test_a_bad_order_of_a_link_is_refused_with_400(api: Api, members: dict[str, Any], param: str, code: str) -> None:
    refused = api.post("/payment_links/", {**ORDER, **members})
    error = error_of(refused)
    assert (refused.status_code, error["param"], error["code"]) == (400, param, code)


GOOD: list[dict[str, Any]] = [
    {"description": "a" * 1000, "internal_name": "a" * 255, "maximum_payments": 1},
    {"description": None, "expiry": None, "maximum_payments": None, "redirect_url": None},
    {"expiry": "12/31/2037", "redirect_url": "https://shop.example/thanks"},
    {"shipping_address_collection": {"allowed_countries": ["PH"]}, "phone_number_collection": True},
    {"require_auth": False, "branding": {"use_logo": True}, "metadata": {"menu": "summer"}},
]


@pytest.mark.parametrize("members", GOOD)
def test_an_order_of_a_link_at_its_bounds_is_shown_as_it_was_sent(api: Api, members: dict[str, Any]) -> None:
    link = linked(api, **members)
    assert all(link[name] == value for name, value in members.items() if name != "branding")


@pytest.mark.parametrize(("members", "code"), [({"expiry": "12/31/2019"}, "past"), ({"url": "x"}, "unknown_parameter")])
def test_a_bad_change_of_a_link_is_refused(api: Api, members: dict[str, Any], code: str) -> None:
    link = linked(api)
    refused = api.put(f"/payment_links/{link['id']}", members)
    assert (refused.status_code, error_of(refused)["code"]) == (400, code)


def test_a_way_to_pay_that_is_switched_off_is_refused_in_a_link_too(api: Api, shop: Any) -> None:
    link = linked(api)
    shop.merchant.payment_method_settings = {"gcash": {"enabled": False}}
    shop.merchant.save()
    given = {"payment_method_types": ["card", "gcash"]}
    for refused in (api.post("/payment_links/", ORDER), api.put(f"/payment_links/{link['id']}", given)):
        assert error_of(refused)["param"] == "payment_method_types[1]"
    assert made(api.put(f"/payment_links/{link['id']}", {"description": "x"}))["description"] == "x"
