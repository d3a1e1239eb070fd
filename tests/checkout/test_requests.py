"""A payment request from its order to its end, by the API and by its payer."""

import json
from typing import Any

import pytest

from payments.api.access import product_paths
from payments.domain.checkout import payments
from payments.domain.shared.errors import PaymentError
from payments.models import PaymentRequest
from tests.checkout.cast import ORDER, billed, charges_of, customer, event_types, pay, pay_by_wallet, row_of, shown
from tests.client import CHALLENGED, DECLINED, Api, error_of, made
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db

MEMBERS = {
    *("id", "object", "account_name", "branding", "created", "updated", "currency", "customer", "customer_email"),
    *("customer_name", "delivery_methods", "delivered", "line_items"),
    *("livemode", "metadata", "number", "paid", "voided"),
    *("payment_method_types", "payment_request_url", "require_auth", "subtotal", "total", "account_support_email"),
    *("customer_phone", "message", "paid_at", "payment_details", "void_reason", "voided_at"),
}
ASKED = {name: ORDER[name] for name in ("currency", "line_items", "payment_method_types")} | {
    "delivery_methods": ["email"]
}
BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"customer": None}, "customer", "missing"),
    ({"currency": None}, "currency", "missing"),
    ({"line_items": None}, "line_items", "missing"),
    ({"payment_method_types": None}, "payment_method_types", "missing"),
    ({"delivery_methods": None}, "delivery_methods", "missing"),
    ({"delivery_methods": []}, "delivery_methods", "too_few"),
    ({"delivery_methods": ["email", "email"]}, "delivery_methods.1", "repeated"),
    ({"delivery_methods": ["email", "sms", "fax"]}, "delivery_methods", "too_many"),
    ({"delivery_methods": ["fax"]}, "delivery_methods.0", "invalid_choice"),
    ({"line_items": [{"name": "Free", "amount": 0, "quantity": 1}]}, "line_items", "total_out_of_range"),
    ({"mode": "payment"}, "mode", "unknown_parameter"),
]


def void(api: Api, request: dict[str, Any], reason: str = "Sent twice") -> Any:
    return api.post(f"/payment_requests/{request['id']}/void", {"reason": reason})


def test_a_new_request_has_every_member(api: Api) -> None:
    request = billed(api, message="Salamat!", metadata={"order": "7"}, currency="php")
    assert request.keys() == MEMBERS
    assert (request["subtotal"], request["total"], request["currency"]) == (25_000, 25_000, "php")
    assert (request["paid"], request["voided"], request["message"]) == (False, False, "Salamat!")
    assert request["delivered"] == {"email": False, "sms": False}
    assert request["created"] == request["updated"]
    assert request["payment_request_url"].endswith(f"/requests/{request['id']}")
    assert shown(api, request) == request


def test_a_request_names_its_customer(api: Api) -> None:
    plain, named = billed(api), billed(api, customer=customer(api, metadata={"name": "Juan dela Cruz"}))
    assert (plain["customer_email"], plain["customer_name"]) == ("juan@example.com", "juan")
    assert (named["customer_name"], named["customer_phone"]) == ("Juan dela Cruz", "+639171234567")


def test_a_customer_without_a_number_has_no_phone(api: Api) -> None:
    assert billed(api, customer=customer(api, mobile_number=None))["customer_phone"] is None


def test_the_requests_of_a_customer_are_numbered(api: Api) -> None:
    juan, ana = customer(api), customer(api)
    numbers = [billed(api, customer=juan)["number"], billed(api, customer=ana)["number"]]
    assert [*numbers, billed(api, customer=juan)["number"]] == [
        f"{juan[-8:].upper()}-0001",
        f"{ana[-8:].upper()}-0001",
        f"{juan[-8:].upper()}-0002",
    ]


def test_two_customers_whose_ids_end_alike_share_the_count(api: Api) -> None:
    first = billed(api)
    juan = customer(api)
    PaymentRequest.objects.update(series=juan[-8:].upper())
    assert billed(api, customer=juan)["number"] == f"{juan[-8:].upper()}-0002" != first["number"]


@pytest.mark.parametrize(("members", "param", "code"), BAD, ids=[f"{param}-{code}" for _, param, code in BAD])
def test_a_bad_order_is_refused_with_400(api: Api, members: dict[str, Any], param: str, code: str) -> None:
    refused = api.post("/payment_requests/", ASKED | {"customer": "cus_1"} | members)
    error = error_of(refused)
    assert (refused.status_code, error["type"], error["param"], error["code"]) == (
        400,
        "invalid_request_error",
        param,
        code,
    )
    assert json.loads(refused.content)["message"] == error["message"]


def test_the_customer_must_be_the_merchants_own_of_this_mode(api: Api, live_api: Api) -> None:
    for unknown in (customer(live_api), "cus_" + "0" * 32, "juan"):
        refused = api.post("/payment_requests/", ASKED | {"customer": unknown})
        error = error_of(refused)
        assert (refused.status_code, error["type"], error["param"]) == (404, "not_found", "customer")


def test_an_order_that_is_sent_again_makes_one_request(api: Api) -> None:
    order = ASKED | {"customer": customer(api)}
    first, again = (api.post("/payment_requests/", order, key="k-1") for _ in range(2))
    assert (first.status_code, again.content) == (201, first.content)
    assert PaymentRequest.objects.count() == 1


def test_a_paid_request_shows_its_charge(api: Api) -> None:
    request = billed(api, metadata={"order": "7"})
    charge = pay(request)
    paid = shown(api, request)
    assert (paid["paid"], paid["voided"], paid["paid_at"]) == (True, False, int(row_of(request).ended_at.timestamp()))
    assert paid["payment_details"] == made(api.get(f"/charges/ch_{charge.id.hex}"))
    assert (charge.amount, charge.description, charge.metadata) == (25_000, "Halo-halo", {"order": "7"})


def test_the_events_of_a_request_say_what_happened_without_a_gap(api: Api) -> None:
    request = billed(api)
    pay(request, DECLINED)
    pay(request)
    assert event_types(api, request) == [
        "payment_request.created",
        "payment_request.failed",
        "payment_request.succeeded",
    ]
    found = made(api.get("/events/", object=request["id"]))["data"]
    assert [event["sequence"] for event in found] == [3, 2, 1]
    assert found[0]["data"]["object"] == shown(api, request)


def test_events_are_listed_by_type_and_request(api: Api) -> None:
    request = billed(api)
    found = made(api.get("/events/", object=request["id"], type="payment_request.created"))["data"]
    assert [event["data"]["object"]["id"] for event in found] == [request["id"]]


def test_a_payer_who_chooses_another_way_was_not_declined(api: Api) -> None:
    request = billed(api)
    pay_by_wallet(request)
    assert payments.give_up(row_of(request))
    pay(request)
    assert event_types(api, request) == ["payment_request.created", "payment_request.succeeded"]


def test_a_voided_request_shows_why_at_the_top_and_in_data(api: Api) -> None:
    request = billed(api)
    voided = made(void(api, request))
    whole = voided.pop("data")
    assert voided == whole == shown(api, request)
    assert (voided["voided"], voided["void_reason"], voided["paid"]) == (True, "Sent twice", False)
    assert voided["voided_at"] == int(row_of(request).ended_at.timestamp())
    assert event_types(api, request) == ["payment_request.created", "payment_request.updated"]


def test_a_voided_request_cannot_be_paid(api: Api) -> None:
    request = billed(api)
    made(void(api, request))
    with pytest.raises(PaymentError, match="paid, over, or being paid"):
        pay(request)
    assert charges_of(request) == []


def test_a_void_is_final(api: Api) -> None:
    request = billed(api)
    made(void(api, request))
    refused = void(api, request)
    assert (refused.status_code, error_of(refused)["code"]) == (409, "request_not_voidable")


def test_a_paid_request_cannot_be_voided(api: Api) -> None:
    request = billed(api)
    pay(request)
    assert error_of(void(api, request))["code"] == "request_not_voidable"


def test_a_request_cannot_be_voided_while_its_payer_is_at_a_bank(api: Api) -> None:
    request = billed(api)
    pay(request, CHALLENGED)
    refused = api.post(f"/payment_requests/{request['id']}/void", {"reason": "Late"}, key="k-1")
    assert (refused.status_code, error_of(refused)["code"]) == (409, "request_busy")
    assert payments.give_up(row_of(request))
    made(api.post(f"/payment_requests/{request['id']}/void", {"reason": "Late"}, key="k-1"))


@pytest.mark.parametrize(
    ("body", "code"), [({}, "missing"), ({"reason": ""}, "too_short"), ({"reason": "a" * 256}, "too_long")]
)
def test_a_void_needs_a_reason(api: Api, body: dict[str, str], code: str) -> None:
    refused = api.post(f"/payment_requests/{billed(api)['id']}/void", body)
    assert (refused.status_code, error_of(refused)["code"]) == (400, code)


def test_the_list_is_filtered_by_status(api: Api) -> None:
    waiting, paid, voided, busy = (billed(api) for _ in range(4))
    pay(paid)
    made(void(api, voided))
    pay(busy, CHALLENGED)
    found = {status: made(api.get("/payment_requests/", status=status)) for status in ("open", "paid", "voided")}
    assert {status: [row["id"] for row in page["data"]] for status, page in found.items()} == {
        "open": [busy["id"], waiting["id"]],
        "paid": [paid["id"]],
        "voided": [voided["id"]],
    }
    first = made(api.get("/payment_requests/", status="open", limit=1))
    assert made(api.get(first["next"].removeprefix("/v2")))["data"] == [shown(api, waiting)]


def numbered(api: Api, **query: Any) -> dict[str, Any]:
    """Return a page of the list by the path of clients that know no cursor."""
    environ: dict[str, Any] = {"REQUEST_METHOD": "GET", "PATH_INFO": "/requests/api/v1/requests", "HTTP_HOST": ""}
    product_paths.lead(environ)
    led = {name: environ[name] for name in (product_paths.ALIAS, product_paths.ADDRESS)}
    answer = api.client.get(environ["PATH_INFO"], query, headers=api.headers(), **led)
    assert answer.status_code == 200
    return dict(json.loads(answer.content))


def test_by_the_other_path_the_list_has_numbered_pages(api: Api, settings: Any) -> None:
    waiting, paid, busy = (billed(api) for _ in range(3))
    pay(paid)
    pay(busy, CHALLENGED)
    page = numbered(api, status="open", limit=1)
    assert (page["total"], page["count"], page["previous"]) == (2, 1, None)
    assert page["next"] == f"{settings.PUBLIC_URL}/requests/api/v1/requests?page=2&limit=1&status=open"
    assert page["data"] == [shown(api, busy)]
    assert [row["id"] for row in numbered(api, status="open", limit=1, page=2)["data"]] == [waiting["id"]]
    assert numbered(api)["total"] == 3


def test_requests_are_not_among_sessions(api: Api) -> None:
    request = billed(api)
    assert made(api.get("/checkout_sessions/"))["data"] == []
    assert api.get(f"/checkout_sessions/cs_{request['id'][3:]}").status_code == 404


def test_a_request_of_another_merchant_is_not_found(api: Api, other_api: Api) -> None:
    request = billed(api)
    refused = void(other_api, request)
    assert (refused.status_code, error_of(refused)["type"]) == (404, "not_found")


def test_who_has_no_name_is_addressed_by_the_e_mail_address(api: Api) -> None:
    plain, named = billed(api), billed(api, customer=customer(api, metadata={"name": "Juan dela Cruz"}))
    assert [row_of(each).addressee for each in (plain, named)] == ["juan@example.com", "Juan dela Cruz"]
    page = api.client.get(path_of(plain["payment_request_url"])).content.decode()
    assert '<b><bdi dir="auto">juan@example.com</bdi></b></dd>' in page
