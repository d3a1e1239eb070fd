"""Every row of the table of errors, with its envelope, and bodies and media types that are refused."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from pytest_django import Settings

from payments.domain.merchants.api_keys import find_key, revoke_key
from payments.models import IdempotencyRecord
from tests.charging.doubles import Unreachable, provider
from tests.client import DECLINED, Api, error_of, without_request_id
from tests.contract.calls import CALLS, CARD, CARD_SOURCE, CUSTOMER, Call, each, order, with_members
from tests.contract.shapes import ERROR, faults_in

Cause = Callable[[Api], HttpResponse]


def charged(api: Api, verb: str, make: Callable[[Api], dict[str, Any]], **body: Any) -> HttpResponse:
    return api.post(f"/charges/{make(api)['id']}/{verb}", body or None)


def with_revoked_key(api: Api) -> HttpResponse:
    revoke_key(find_key(api.key))
    return api.get("/me")


def with_charged_source(api: Api) -> HttpResponse:
    source = api.source()
    api.charge_source(source)
    return api.post("/charges/", order(source))


def with_reused_key(api: Api) -> HttpResponse:
    api.post("/customers/", CUSTOMER, "once")
    return api.post("/customers/", CUSTOMER | {"description": "Another"}, "once")


def with_key_in_use(api: Api) -> HttpResponse:
    api.post("/customers/", CUSTOMER, "once")
    IdempotencyRecord.objects.update(status=None, body=None)
    return api.post("/customers/", CUSTOMER, "once")


def with_provider_away(api: Api) -> HttpResponse:
    charge = api.held()
    with provider(Unreachable()):
        return api.post(f"/charges/{charge['id']}/capture")


def held(api: Api) -> dict[str, Any]:
    return api.held()


def failed(api: Api) -> dict[str, Any]:
    return api.charge(DECLINED)


def captured(api: Api) -> dict[str, Any]:
    return api.charge()


INVALID, CLASH = "invalid_request_error", "idempotency_error"
PIN = {"confirmation_id": "12345", "otp": "123456"}
ROWS: dict[str, tuple[int, str, Cause]] = {
    "invalid_json": (400, INVALID, lambda api: api.post("/sources/", b"5")),
    "key_missing": (401, "authentication_error", lambda api: api.send("GET", "/me", None, {"Authorization": ""})),
    "key_invalid": (401, "authentication_error", lambda api: Api("sk_test_nobody").get("/me")),
    "key_revoked": (401, "authentication_error", with_revoked_key),
    "resource_missing": (404, "not_found_error", lambda api: api.get("/charges/ch_1")),
    "method_not_allowed": (405, INVALID, lambda api: api.delete("/charges/")),
    "unsupported_media_type": (
        *(415, INVALID),
        lambda api: api.client.post("/v2/sources/", b"<a/>", content_type="text/xml", headers=api.headers()),
    ),
    "body_too_large": (413, INVALID, lambda api: api.post("/sources/", b"{}".ljust(65_537))),
    "source_already_used": (409, INVALID, with_charged_source),
    "charge_not_capturable": (409, INVALID, lambda api: charged(api, "capture", captured)),
    "charge_not_voidable": (409, INVALID, lambda api: charged(api, "void", failed)),
    "charge_not_refundable": (409, INVALID, lambda api: charged(api, "refund", held)),
    "charge_not_verifiable": (409, INVALID, lambda api: charged(api, "verify", captured, **PIN)),
    "amount_too_large": (409, INVALID, lambda api: charged(api, "capture", held, amount=10_001)),
    "idempotency_key_reused": (409, CLASH, with_reused_key),
    "idempotency_key_in_use": (409, CLASH, with_key_in_use),
    "missing": (422, "validation_error", lambda api: api.post("/sources/")),
    "invalid_type": (422, "validation_error", lambda api: api.post("/sources/", {"type": 5})),
    "invalid_choice": (422, "validation_error", lambda api: api.post("/sources/", {"type": "paypal"})),
    "unknown_parameter": (422, "validation_error", lambda api: api.get("/charges/", colour="red")),
    "provider_unavailable": (503, "api_error", with_provider_away),
}
ABOUT_A_CHARGE = [name for name in ROWS if name.startswith("charge_")] + ["source_already_used", "amount_too_large"]


@pytest.mark.parametrize("code", ROWS)
def test_every_code_has_its_status_type_and_envelope(api: Api, code: str) -> None:
    status, kind, cause = ROWS[code]
    response = cause(api)
    error = error_of(response)
    assert (response.status_code, error["type"], error["code"]) == (status, kind, code)
    assert response["Content-Type"] == "application/json"
    assert faults_in(response.json(), ERROR) == []


@pytest.mark.parametrize("code", ROWS)
def test_every_error_names_its_request(api: Api, code: str) -> None:
    response = ROWS[code][2](api)
    assert error_of(response)["request_id"] == response["Request-Id"]


@pytest.mark.parametrize("code", ROWS)
def test_only_a_422_has_detail(api: Api, code: str) -> None:
    status, _, cause = ROWS[code]
    body = cause(api).json()
    assert ("detail" in body, "errors" in body["error"]) == (status == 422, status == 422)


@pytest.mark.parametrize("code", ABOUT_A_CHARGE)
def test_a_conflict_about_a_charge_names_it(api: Api, code: str) -> None:
    named = error_of(ROWS[code][2](api))["charge_id"]
    assert named == api.get("/charges/").json()["data"][0]["id"]


def test_a_request_beyond_the_rate_gets_retry_after(api: Api, settings: Settings) -> None:
    settings.RATE_LIMIT = "1/year"
    api.get("/ping")
    response = api.get("/ping")
    error = error_of(response)
    assert (response.status_code, error["type"], error["code"]) == (429, "rate_limit_error", "rate_limited")
    assert int(response["Retry-After"]) > 0
    assert {"RateLimit", "RateLimit-Policy"} <= {*response.headers}
    assert faults_in(response.json(), ERROR) == []


MANY_FAULTS = with_members(
    CARD_SOURCE,
    {"type": "card", "card.number": "1", "card.cvc": None, "owner.billing.city": 5, "redirect.success": "x", "tip": 1},
)


def test_a_422_lists_every_fault_at_once_with_its_place(api: Api) -> None:
    detail = api.post("/sources/", MANY_FAULTS).json()["detail"]
    assert sorted(fault["loc"] for fault in detail) == [
        ["body", "card", "cvc"],
        ["body", "card", "number"],
        ["body", "owner", "billing", "city"],
        ["body", "owner", "billing", "name"],
        ["body", "redirect", "fail"],
        ["body", "redirect", "success"],
        ["body", "tip"],
    ]


def test_the_errors_of_a_422_are_the_same_by_dotted_name(api: Api) -> None:
    body = api.post("/sources/", MANY_FAULTS).json()
    named: dict[str, list[str]] = {}
    for fault in body["detail"]:
        named.setdefault(".".join(fault["loc"][1:]), []).append(fault["msg"])
    assert body["error"]["errors"] == named


def test_the_param_of_a_422_is_the_first_fault(api: Api) -> None:
    body = api.post("/sources/", MANY_FAULTS).json()
    first = body["detail"][0]
    assert (body["error"]["param"], body["error"]["code"]) == (".".join(first["loc"][1:]), first["type"])


NUMBER, SPACED, CVC, SECRET = "5425233430109903", "5425 2334 3010 9903", "83746", "sk_live_" + "deadbeef" * 6
LEAKS: dict[str, tuple[str, Any]] = {
    "number with a wrong check digit": ("/sources/", with_members(CARD_SOURCE, {"card.number": NUMBER[:-1] + "4"})),
    "number with spaces": ("/sources/", with_members(CARD_SOURCE, {"card.number": SPACED})),
    "number as a number": ("/sources/", with_members(CARD_SOURCE, {"card.number": int(NUMBER)})),
    "number as a month": ("/sources/", with_members(CARD_SOURCE, {"card.exp_month": NUMBER})),
    "number as a name": ("/sources/", with_members(CARD_SOURCE, {"card.name": NUMBER + "%"})),
    "number as a member": ("/sources/", {**CARD_SOURCE, NUMBER: 1}),
    "spaced number as a member": ("/sources/", {**CARD_SOURCE, SPACED: 1}),
    "number as a card's member": ("/sources/", {"type": "card", "card": CARD | {NUMBER: 1}}),
    "number as a type": ("/sources/", {"type": NUMBER}),
    "number as a source": ("/charges/", order(NUMBER)),
    "number as a currency": ("/charges/", order("src_1", currency=NUMBER)),
    "number in bad JSON": ("/sources/", b'{"number": "%b", }' % NUMBER.encode()),
    "number in a path": (f"/charges/{NUMBER}/capture", None),
    "number in a query": (f"/charges/?{NUMBER}={NUMBER}", {}),
    "CVC too long": ("/sources/", with_members(CARD_SOURCE, {"card.cvc": CVC})),
    "CVC as a number": ("/sources/", with_members(CARD_SOURCE, {"card.cvc": int(CVC)})),
    "CVC of a charge": ("/charges/", order("src_1", cvc=CVC)),
    "PIN": ("/charges/ch_1/verify", {"confirmation_id": "1", "otp": CVC * 3}),
    "key as a member": ("/customers/", CUSTOMER | {SECRET: 1}),
    "key as a source": ("/charges/", order(SECRET)),
    "key in a path": (f"/charges/{SECRET}/void", None),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_no_error_repeats_what_is_secret(api: Api, leak: str) -> None:
    path, body = LEAKS[leak]
    text = without_request_id(api.post(path, body))
    assert not [secret for secret in (NUMBER, NUMBER[:-1], SPACED, CVC, SECRET) if secret in text]


@pytest.mark.parametrize("form", ["Bearer {}", "Basic {}", "Token {}", "Bearer {} twice"])
def test_a_401_does_not_repeat_the_key(api: Api, settings: Settings, form: str) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "100000/second"
    response = api.send("GET", "/me", None, {"Authorization": form.format(SECRET)})
    assert response.status_code == 401
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "*/*;q=0", "nonsense"])
def test_an_error_is_json_whatever_the_client_would_rather_have(api: Api, accept: str) -> None:
    response = api.send("GET", "/charges/ch_1", None, {"Accept": accept})
    assert (response.status_code, response["Content-Type"]) == (404, "application/json")


CREATE_SOURCE = CALLS["create a source"]
ORIGIN = {"Origin": "https://shop.example"}


def send(api: Api, call: Call, path: str, body: bytes, content_type: str = "application/json") -> HttpResponse:
    headers: Any = api.headers()
    return api.client.generic(call.method, f"/v2{path}", body, content_type=content_type, headers=headers)


def refuse(response: HttpResponse, status: int, code: str) -> None:
    assert (response.status_code, error_of(response)["code"]) == (status, code)
    assert faults_in(response.json(), ERROR) == []


@each(
    [
        *("text/plain", "text/json", "application/xml", "application/*", "*/*", "nonsense", ""),
        *("application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=x"),
        *("application/json; charset=utf-16", "application/json;" + "x" * 300),
    ]
)
def test_another_media_type_is_refused(api: Api, value: str) -> None:
    refuse(send(api, CREATE_SOURCE, "/sources/", b'{"type":"gcash"}', value), 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=UTF-8", "application/json; charset=utf-8", "Application/JSON"]
)
def test_json_may_be_announced_in_other_words(api: Api, content_type: str) -> None:
    assert send(api, CREATE_SOURCE, "/sources/", b'{"type":"gcash"}', content_type).status_code == 200


def test_a_browser_may_read_why_its_source_was_refused(browser: Api) -> None:
    response = browser.post("/sources/", {"type": "paypal"}, **ORIGIN)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (422, "*")
