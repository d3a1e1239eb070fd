"""Answers to what developers get wrong at first say what to do instead."""

import base64
import gzip
import json
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api, error_of, made, signed_in
from tests.contract.calls import CARD_SOURCE

FORM = "application/x-www-form-urlencoded"
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def raw(api: Api, body: bytes, content_type: str = "application/json", **headers: str) -> HttpResponse:
    return api.client.generic("POST", "/v2/sources/", body, content_type, headers=api.headers() | headers)


def refusal(response: HttpResponse, status: int, code: str) -> str:
    """Return the message of a refusal with this status and code."""
    error = error_of(response)
    assert (response.status_code, error["code"]) == (status, code)
    return str(error["message"])


@pytest.mark.parametrize("amount", [10.50, "1050", 10.0, True])
def test_an_amount_that_is_no_whole_number_is_answered_with_the_smallest_unit(api: Api, amount: Any) -> None:
    order = {"amount": amount, "source": api.source(), "description": "x"}
    assert "10.50 pesos are 1050 centavos" in refusal(api.post("/charges/", order), 422, "invalid_type")


def test_a_compressed_body_is_not_accepted(api: Api) -> None:
    response = raw(api, gzip.compress(json.dumps(CARD_SOURCE).encode()), **{"Content-Encoding": "gzip"})
    assert "without Content-Encoding" in refusal(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("content_type", ["application/json; charset=latin1", "application/vnd.api+json", FORM])
def test_another_type_of_body_names_the_right_one(api: Api, content_type: str) -> None:
    message = refusal(raw(api, b"{}", content_type), 415, "unsupported_media_type")
    assert "UTF-8, sent with Content-Type: application/json" in message


def test_a_byte_order_mark_is_named(api: Api) -> None:
    message = refusal(raw(api, b"\xef\xbb\xbf" + json.dumps(CARD_SOURCE).encode()), 400, "invalid_json")
    assert "byte order mark" in message


def test_a_key_sent_as_the_password_is_answered_with_its_place(api: Api) -> None:
    sent = base64.b64encode(f":{api.key}".encode()).decode()
    response = api.send("GET", "/me", None, {"Authorization": f"Basic {sent}"})
    message = refusal(response, 401, "key_invalid")
    assert "as the user name" in message
    assert api.key not in response.content.decode()


@pytest.mark.parametrize("limit", ["-1", "-100", "0"])
def test_a_limit_below_one_is_too_small(api: Api, limit: str) -> None:
    assert "at least 1" in refusal(api.get("/charges/", limit=limit), 422, "too_small")


def test_an_unencoded_plus_is_named(api: Api) -> None:
    response = api.get("/charges/?created_at[gte]=2026-11-01T00:00:00+08:00")
    assert "%2B" in refusal(response, 422, "unencoded_plus")


@pytest.mark.parametrize(
    ("wrong", "right"), [("captur", "capture"), ("currancy", "currency"), ("meta_data", "metadata")]
)
def test_a_mistyped_parameter_is_answered_with_the_right_one(api: Api, wrong: str, right: str) -> None:
    response = api.post("/charges/", {"amount": 1, "source": api.source(), "description": "x", wrong: "x"})
    assert f"Did you mean {right}?" in refusal(response, 422, "unknown_parameter")


def test_a_parameter_like_no_other_gets_no_suggestion(api: Api) -> None:
    assert "Did you mean" not in refusal(api.get("/charges/", colour="red"), 422, "unknown_parameter")


def test_a_405_names_the_methods_in_its_message_too(api: Api) -> None:
    response = api.send("PATCH", "/charges/", None, {})
    assert response["Allow"] in refusal(response, 405, "method_not_allowed")


def test_a_live_key_is_answered_with_what_live_mode_needs(live_api: Api) -> None:
    message = refusal(live_api.post("/sources/", {"type": "gcash"}), 422, "source_type_unavailable")
    assert "provider account with a route" in message


@pytest.mark.parametrize("body", [b"[]", b" [ ] "])
def test_an_empty_array_as_a_body_is_an_empty_object(api: Api, body: bytes) -> None:
    charge = api.held()
    made(api.send("POST", f"/charges/{charge['id']}/capture", body, {}))


def test_an_empty_array_as_metadata_is_an_empty_object(api: Api) -> None:
    assert api.charge(metadata=[])["metadata"] == {}


@pytest.mark.parametrize("name", ["expand", "expand[]", "expand[0]", "expand[12]", "expand[a][b]"])
def test_expand_in_any_form_changes_nothing(api: Api, name: str) -> None:
    charge = api.charge()
    assert made(api.get(f"/charges/{charge['id']}", **{name: "source"})) == charge
    assert made(api.get("/charges/", **{name: "source"}))["data"] == [charge]


def test_expand_is_not_kept_in_the_path_of_the_next_page(api: Api) -> None:
    for _ in range(2):
        api.charge()
    assert "expand" not in made(api.get("/charges/", limit=1, **{"expand[0]": "source"}))["next"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "near"),
    [
        *((path, "/v2/charges/{id}/refund") for path in ("refunds", "refund", "refunds/re_1", "charges/ch_1/refunds")),
        *(
            (path, "/v2/charges")
            for path in ("charge", "payments", "payment_intents", "Charges", "charges//", "chargs")
        ),
        *((path, "/v2/charges/{id}") for path in ("charge/ch_1", "payments/pay_1", "charges/{id}/", "v2/charges/ch_1")),
        *((path, "/v2/charges/{id}/void") for path in ("charges/ch_1/cancel", "charges/ch_1/voids")),
        *(
            ("charges/ch_1/captures", "/v2/charges/{id}/capture"),
            ("payment_intents/pi_1/capture", "/v2/charges/{id}/capture"),
        ),
        *(("tokens", "/v2/sources"), ("payment_methods", "/v2/sources"), ("source", "/v2/sources")),
        *(("customer", "/v2/customers"), ("customers/cus_1/source", "/v2/customers/{id}/sources")),
        *(("customers/by_mail/ana@shop.example", "/v2/customers/by_email/{email}"), ("account", "/v2/me")),
        *(("test_clock", "/v2/test/clock"), ("balance/transactions", "/v2/balance_transactions")),
    ],
)
def test_a_path_that_is_nearly_right_is_answered_with_the_right_one(path: str, near: str) -> None:
    for start in ("/v2/", "/v1/", "/"):
        if not path.startswith("v2/") and not (start == "/v2/" and path == "charges/{id}/"):
            assert f"Did you mean {near}?" in refusal(Client().get(f"{start}{path}"), 404, "resource_missing")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/v2/", "/v2", "/favicon.ico", "/v2/nowhere", "/v2/4242424242424242", "/v2/" + "a" * 5000]
)
def test_a_path_like_no_other_gets_no_suggestion(path: str) -> None:
    assert "Did you mean" not in refusal(Client().get(path), 404, "resource_missing")


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        *((f"{prefix}_1N2x", "begin with src_") for prefix in ("tok", "pm", "card", "ch", "cus", "pi")),
        ("tok_visa", "tok_ is of another service"),
        ("card_0", "card_ is that of cards"),
    ],
)
def test_an_id_of_another_kind_as_a_source_is_answered_with_the_kind(api: Api, sent: str, words: str) -> None:
    order = {"amount": 1, "source": sent, "description": "x"}
    assert words in refusal(api.post("/charges/", order), 404, "resource_missing")


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("charges", "ch"),
        ("sources", "src"),
        ("customers", "cus"),
        ("disputes", "dp"),
        ("payouts", "po"),
        ("events", "evt"),
    ],
)
def test_an_id_of_another_kind_in_a_path_is_answered_with_the_kind(api: Api, path: str, own: str) -> None:
    message = refusal(api.get(f"/{path}/re_{'0' * 32}"), 404, "resource_missing")
    assert message.endswith(f"IDs of {path} begin with {own}_; re_ is that of refunds.")
    assert "begin" not in refusal(api.get(f"/{path}/{own}_{'0' * 32}"), 404, "resource_missing")


@pytest.mark.parametrize(
    ("member", "value", "code", "words"),
    [
        ("number", "4242 4242 4242 4242", "pattern", "without blanks"),
        ("number", "4242-4242-4242-4242", "pattern", "without blanks and hyphens"),
        ("number", " 4242424242424242", "pattern", "without blanks"),
        ("number", "378282246310005", "too_short", "16 digits"),
        ("number", "6304000000000000018", "too_long", "16 digits"),
        ("exp_year", "39", "too_short", "4 digits: 2034, not 34"),
        ("exp_year", "02039", "too_long", "4 digits"),
    ],
)
def test_a_card_as_people_write_it_is_answered_with_its_form(
    api: Api, member: str, value: str, code: str, words: str
) -> None:
    card = CARD_SOURCE["card"] | {member: value}
    assert words in refusal(api.post("/sources/", CARD_SOURCE | {"card": card}), 422, code)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/v1/charges", "/nowhere", "/favicon.ico"])
def test_an_unknown_path_answers_programs_in_json_and_names_the_reference(path: str) -> None:
    message = refusal(Client().get(path), 404, "resource_missing")
    assert "/docs" in message


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/v1/charges", "/nowhere"])
def test_an_unknown_path_answers_browsers_with_a_page_that_leads_to_the_reference(path: str) -> None:
    response = Client().get(path, headers=BROWSER)
    assert (response.status_code, response["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert 'href="/docs"' in response.content.decode()


@pytest.mark.django_db
def test_the_start_page_leads_browsers_to_the_reference() -> None:
    response = Client().get("/", headers=BROWSER)
    assert response.status_code == 200
    assert 'href="/docs"' in response.content.decode()


@pytest.mark.long
@pytest.mark.django_db
def test_the_start_page_shows_programs_where_the_reference_is() -> None:
    links = made(Client().get("/"))
    assert [Client().get(f"/{link.split('/', 3)[3]}").status_code for name, link in links.items() if name != "api"] == [
        *(200, 200, 200)
    ]


def test_an_unknown_path_counts_against_its_address(shop: NewMerchant) -> None:
    assert "RateLimit" in Client().get("/nowhere")


@pytest.mark.django_db
def test_a_form_without_its_token_is_answered_with_what_to_do() -> None:
    response = Client(enforce_csrf_checks=True).post("/admin/login/", {"login": "ana"}, headers=BROWSER)
    assert response.status_code == 403
    assert "load the page anew" in response.content.decode()


@pytest.mark.django_db
def test_a_page_that_a_role_does_not_permit_leads_back(django_user_model: Any) -> None:
    client = signed_in(django_user_model.objects.create_user("ana", is_staff=True))
    response = client.get("/admin/payments/merchant/", headers=BROWSER)
    assert response.status_code == 403
    assert 'href="/admin/"' in response.content.decode()
