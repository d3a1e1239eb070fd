"""A payment link: its order, bounds and refusals at the edge of the API, its life, and lists by page number."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from payments import clock
from payments.domain.checkout import links, sessions
from payments.domain.shared.errors import PaymentError
from payments.models import Checkout, PaymentLink
from tests.checkout.shelf import (
    ITEMS,
    ORDER,
    buy,
    by_alias,
    event_types,
    left,
    linked,
    open_payment,
    pay,
    payments_of,
    shown,
)
from tests.client import DECLINED, Api, error_of, made

pytestmark = pytest.mark.django_db

ALWAYS = {
    *("id", "object", "active", "allow_adjustable_quantity", "branding", "created", "updated", "currency"),
    *("internal_name", "line_items", "livemode", "metadata", "payment_method_types", "phone_number_collection"),
    *("require_auth", "url", "description", "expiry", "maximum_payments", "redirect_url"),
    "shipping_address_collection",
}


def expire_payments() -> int:
    """Let the time of all payments pass."""
    Checkout.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    return sessions.expire_due()


def test_a_new_link_has_every_member(api: Api, settings: Any) -> None:
    link = linked(api)
    assert link.keys() == ALWAYS
    assert (link["active"], link["require_auth"], link["phone_number_collection"]) == (True, True, False)
    assert type(link["created"]) is type(link["updated"]) is int
    short = link["url"].removeprefix(f"{settings.PUBLIC_URL}/links/")
    assert len(short) == 10
    assert short.isalnum()
    assert shown(api, link) == link


@pytest.mark.parametrize(
    ("given", "kept"), [({}, 3), ({"remaining": 0}, 3), ({"remaining": 2}, 2), ({"remaining": 9}, 9)]
)
def test_what_is_left_of_a_new_link_is_its_stock_unless_it_says_otherwise(
    api: Api, given: dict[str, int], kept: int
) -> None:
    (item,) = linked(api, line_items=[{**ITEMS[0], **given}])["line_items"]
    assert (item["quantity"], item["remaining"]) == (3, kept)


def test_a_payment_that_cannot_be_ended_keeps_no_other_back(api: Api) -> None:
    link = linked(api)
    broken = open_payment(link, 1, 0)
    Checkout.objects.filter(id=broken.id).update(quantities=[1, 0, 1])
    open_payment(link, 1, 0)
    assert expire_payments() == 1
    assert left(api, link) == [2, 2]


def test_a_link_that_cannot_be_closed_keeps_no_other_open(api: Api) -> None:
    linked(api)
    broken = PaymentLink.objects.get()
    linked(api)
    PaymentLink.objects.update(ends_at=clock.now())
    PaymentLink.objects.filter(id=broken.id).update(order={})
    assert links.close_due() == 1


def test_an_address_reserves_no_more_than_twenty_unpaid_payments(api: Api) -> None:
    link, other = (linked(api, line_items=[{**ITEMS[0], "quantity": 90}]) for _ in range(2))
    for number in range(links.RESERVATIONS_MAX):
        open_payment(link, 1, address=f"2001:db8::{number}")
    for each in (link, other):
        with pytest.raises(PaymentError, match="from this network"):
            open_payment(each, 1, address="2001:db8::ff")
    open_payment(link, 1, address="203.0.113.9")
    expire_payments()
    open_payment(link, 1, address="2001:db8::1")


def test_nothing_is_kept_of_the_address_of_a_payment_that_has_ended(api: Api) -> None:
    pay(open_payment(linked(api), 1, 0, address="203.0.113.9"))
    assert Checkout.objects.get().reserved_by == ""


def test_a_payment_takes_what_is_bought_and_makes_one_charge_of_its_sum(api: Api) -> None:
    link = linked(api, description="For the beach", metadata={"menu": "summer"})
    charge = pay(open_payment(link, 2, 1))
    assert (charge.amount, charge.description, charge.metadata) == (29_000, "For the beach", {"menu": "summer"})
    assert left(api, link) == [1, 1]
    assert payments_of(link)[0].state == "paid"


def test_a_payment_is_not_listed_among_sessions(api: Api) -> None:
    buy(linked(api), 1, 0)
    assert made(api.get("/checkout_sessions/"))["data"] == []


def test_each_change_of_the_stock_is_an_event(api: Api) -> None:
    link = linked(api)
    open_payment(link, 1, 0)
    expire_payments()
    made(api.post(f"/payment_links/{link['id']}/deactivate"))
    assert event_types(api, link) == ["payment_link.created", *["payment_link.updated"] * 3]


def test_what_was_not_paid_is_given_back(api: Api) -> None:
    link = linked(api)
    payment = open_payment(link, 3, 2)
    assert pay(payment, DECLINED).status == "failed"
    assert (left(api, link), shown(api, link)["active"]) == ([0, 0], True)
    expire_payments()
    assert left(api, link) == [3, 2]
    buy(link, 3, 2)


def test_what_is_being_paid_is_not_given_back(api: Api) -> None:
    link = linked(api)
    pay(open_payment(link, 3, 2), kind="gcash")
    assert expire_payments() == 0
    assert left(api, link) == [0, 0]


def test_a_link_that_is_sold_out_is_not_active_any_more(api: Api) -> None:
    link = linked(api)
    buy(link, 3, 0)
    assert shown(api, link)["active"]
    buy(link, 0, 2)
    assert not shown(api, link)["active"]
    with pytest.raises(PaymentError, match="takes no payments now"):
        open_payment(link, 1, 0)


def test_a_link_that_sells_one_of_each_is_sold_out_with_its_scarcest_item(api: Api) -> None:
    link = linked(api, allow_adjustable_quantity=False)
    buy(link, 1, 1)
    assert shown(api, link)["active"]
    buy(link, 1, 1)
    assert (left(api, link), shown(api, link)["active"]) == ([1, 0], False)


def test_a_link_ends_at_its_maximum_of_payments(api: Api) -> None:
    link = linked(api, maximum_payments=2)
    buy(link, 1, 0)
    open_payment(link, 1, 0)
    with pytest.raises(PaymentError, match="takes no payments now"):
        open_payment(link, 1, 0)
    assert shown(api, link)["active"]
    expire_payments()
    buy(link, 1, 0)
    assert not shown(api, link)["active"]


def test_a_link_ends_with_its_day(api: Api, settings: Any) -> None:
    settings.DISPLAY_TIME_ZONE = "Asia/Manila"
    link = linked(api, expiry="12/31/2037")
    assert PaymentLink.objects.get().ends_at == datetime(2037, 12, 31, 16, tzinfo=UTC)
    PaymentLink.objects.update(ends_at=clock.now() - timedelta(seconds=1))
    with pytest.raises(PaymentError, match="takes no payments now"):
        open_payment(link, 1, 0)
    assert (links.close_due(), links.close_due()) == (1, 0)
    assert not shown(api, link)["active"]


def test_a_full_link_ends_when_its_last_payments_were_paid_at_once(api: Api) -> None:
    link = linked(api, maximum_payments=1)
    buy(link, 1, 0)
    PaymentLink.objects.update(active=True)
    assert links.close_due() == 1
    assert not shown(api, link)["active"]


BAD_QUANTITIES = [
    (True, (0, 0), "cannot be bought"),
    (True, (-1, 2), "cannot be bought"),
    (True, (4, 0), "fewer left"),
    (True, (1,), "fewer left"),
    (False, (2, 1), "cannot be bought"),
    (False, (1, 0), "cannot be bought"),
]


@pytest.mark.parametrize(("is_adjustable", "quantities", "message"), BAD_QUANTITIES)
def test_quantities_that_cannot_be_bought_take_nothing(
    api: Api, is_adjustable: bool, quantities: tuple[int, ...], message: str
) -> None:
    link = linked(api, allow_adjustable_quantity=is_adjustable)
    with pytest.raises(PaymentError, match=message):
        open_payment(link, *quantities)
    assert (left(api, link), payments_of(link)) == ([3, 2], [])


def test_items_that_cost_nothing_are_not_bought_alone(api: Api) -> None:
    link = linked(api, line_items=[ITEMS[0], {**ITEMS[1], "amount": 0}])
    with pytest.raises(PaymentError, match="cannot be paid at once"):
        open_payment(link, 0, 1)
    assert left(api, link) == [3, 2]


def test_given_members_replace_and_the_others_stay(api: Api) -> None:
    link = linked(api, description="For the beach")
    changed = made(api.put(f"/payment_links/{link['id']}", {"linkId": link["id"], "internal_name": "Winter menu"}))
    assert {name for name in link if changed[name] != link[name]} <= {"internal_name", "updated"}
    assert changed["internal_name"] == "Winter menu"
    assert event_types(api, link) == ["payment_link.created", "payment_link.updated"]


def test_null_takes_an_optional_member_away_and_an_empty_text_changes_nothing(api: Api) -> None:
    given = {
        "description": "For the beach",
        "expiry": "12/31/2039",
        "maximum_payments": 5,
        "metadata": {"shelf": 1},
        "phone_number_collection": True,
        "redirect_url": "https://shop.example/",
        "shipping_address_collection": {"allowed_countries": ["PH"]},
    }
    link = linked(api, **given)
    path, plain = f"/payment_links/{link['id']}", linked(api)
    same = made(api.put(path, {"description": "", "expiry": "", "redirect_url": ""}))
    assert {name: same[name] for name in given} == {name: link[name] for name in given}
    bare = made(api.put(path, dict.fromkeys([*given, "internal_name"])))
    assert {name: bare[name] for name in given} == {name: plain[name] for name in given}
    assert bare["internal_name"] == link["internal_name"]
    assert PaymentLink.objects.filter(ends_at=None).count() == 2


def test_new_items_replace_all_and_payments_under_way_keep_what_was_bought(api: Api) -> None:
    link = linked(api)
    under_way, unpaid = open_payment(link, 3, 0), open_payment(link, 0, 2)
    items = [{"name": "Taho", "amount": 3_000, "quantity": 8, "remaining": 0}, {**ITEMS[0], "quantity": 9}]
    changed = made(api.put(f"/payment_links/{link['id']}", {"line_items": items}))
    assert [item["remaining"] for item in changed["line_items"]] == [0, 9]
    assert pay(under_way).amount == 37_500
    expire_payments()
    unpaid.refresh_from_db()
    assert (unpaid.state, left(api, link)) == ("expired", [0, 9])


def test_a_change_by_which_a_link_is_over_ends_it(api: Api) -> None:
    link = linked(api)
    buy(link, 1, 0)
    assert not made(api.put(f"/payment_links/{link['id']}", {"maximum_payments": 1}))["active"]


def test_a_link_is_switched_off_and_on(api: Api) -> None:
    link = linked(api)
    for verb, is_active in (("deactivate", False), ("deactivate", False), ("activate", True), ("activate", True)):
        assert made(api.post(f"/payment_links/{link['id']}/{verb}"))["active"] is is_active
    assert event_types(api, link) == ["payment_link.created", *["payment_link.updated"] * 2]


def test_a_link_that_is_over_is_not_switched_on(api: Api) -> None:
    link = linked(api)
    buy(link, 3, 2)
    refused = api.post(f"/payment_links/{link['id']}/activate")
    assert (refused.status_code, error_of(refused)["code"]) == (409, "link_not_activatable")
    assert json.loads(refused.content)["message"] == error_of(refused)["message"]


def test_a_link_that_is_switched_off_takes_no_new_payment_but_those_under_way(api: Api) -> None:
    link = linked(api)
    payment = open_payment(link, 1, 0)
    made(api.post(f"/payment_links/{link['id']}/deactivate"))
    with pytest.raises(PaymentError, match="takes no payments now"):
        open_payment(link, 1, 0)
    assert pay(payment).status == "succeeded"


def test_a_link_is_made_once_under_an_idempotency_key(api: Api) -> None:
    body = {"allow_adjustable_quantity": False, "currency": "php", "internal_name": "A", "line_items": ITEMS}
    first, again = (api.post("/payment_links/", body | {"payment_method_types": ["card"]}, key="k-1") for _ in range(2))
    assert first.content == again.content
    assert made(first)["currency"] == "php"
    assert PaymentLink.objects.count() == 1


def test_the_list_is_narrowed_by_status_and_has_further_pages(api: Api) -> None:
    ids = [linked(api)["id"] for _ in range(3)]
    made(api.post(f"/payment_links/{ids[1]}/deactivate"))
    first = made(api.get("/payment_links/", status="active", limit=1))
    assert [link["id"] for link in first["data"]] == [ids[2]]
    rest = made(api.get("/payment_links/", status="active", start_after=ids[2]))
    assert [link["id"] for link in rest["data"]] == [ids[0]]
    assert [link["id"] for link in made(api.get("/payment_links/", status="deactivated"))["data"]] == [ids[1]]


@pytest.mark.parametrize("host", ["testserver", "links.kaha.example"])
def test_the_list_by_path_and_host_has_pages(api: Api, settings: Any, host: str) -> None:
    settings.ALLOWED_HOSTS, settings.LINKS_HOST = ["*"], "links.kaha.example"
    path = "/api/v1/links" if host == "links.kaha.example" else "/links/api/v1/links"
    ids = [linked(api)["id"] for _ in range(3)]
    made(api.post(f"/payment_links/{ids[1]}/deactivate"))
    found = made(by_alias(api, "GET", path, host=host, query="page=1&limit=1&status=active"))
    root = "https://links.kaha.example" if path.startswith("/api") else settings.PUBLIC_URL
    assert found["next"] == f"{root}{path}?page=2&limit=1&status=active"
    assert (found["total"], found["count"], found["previous"]) == (2, 1, None)
    assert [link["id"] for link in found["data"]] == [ids[2]]


def test_links_of_other_merchants_and_of_the_other_mode_are_not_there(api: Api, other_api: Api, live_api: Api) -> None:
    path = f"/payment_links/{linked(api)['id']}"
    for other in (other_api, live_api):
        statuses = {
            other.get(path).status_code,
            other.put(path, {}).status_code,
            other.post(f"{path}/activate").status_code,
        }
        assert statuses == {404}
    assert made(other_api.get("/payment_links/"))["data"] == []


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
