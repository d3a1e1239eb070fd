"""Real answers are as the document says: nothing missing, nothing more, every value in its form."""

from collections.abc import Callable

import pytest
from django.http import HttpResponse

from payments.domain.merchants.merchants import NewMerchant
from tests.client import ANSWER_LOST, CARD_FIELDS, CHALLENGED, DECLINED, NEVER_ARRIVES, REFUNDS_FAIL, Api, made
from tests.contract.calls import CAUSED, newest_request
from tests.openapi.conftest import Document

Ask = Callable[[Api], HttpResponse]

ADDRESS = {"name": "Ana", "phone_number": "123", "email": "ana@example.com", "line1": "1", "line2": "2"}
PLACE = {"city": "Cebu", "state": "Cebu", "country": "PH", "zip_code": "6000"}
EVERYTHING = {
    "type": "card",
    "card": CARD_FIELDS
    | {"number": CHALLENGED}
    | {f"address_{part}": "1" for part in ("line1", "line2", "city", "state", "country", "zip")},
    "redirect": {"success": "https://a.example", "fail": "https://b.example/?c=%20", "notify": "http://d.example"},
    "owner": {"name": "", "address_country": "PH", "billing": ADDRESS | PLACE, "shipping": ADDRESS | PLACE},
    "metadata": {"a": [1, None, {"b": 1.5}]},
    "currency": "PHP",
}
ORDER = {"amount": 1, "description": "x", "metadata": {"y": {}}, "statement_descriptor": "ABC", "currency": "jpy"}


def charged(number: str, **members: object) -> Ask:
    return lambda api: api.post("/charges/", {**ORDER, "source": api.source(number), **members})


def posted_to_held(verb: str, body: object) -> Ask:
    return lambda api: api.post(f"/charges/{api.held()['id']}/{verb}", body)


def refunded(body: object, number: str = "4000000000003055") -> Ask:
    return lambda api: api.post(f"/charges/{api.charge(number)['id']}/refund", body)


def debit(api: Api) -> HttpResponse:
    return api.post("/charges/", {**ORDER, "source": api.wallet("bpi"), "currency": "PHP"})


def verified(api: Api) -> HttpResponse:
    charge = made(debit(api))
    body = {"confirmation_id": charge["action"]["confirmation_id"], "otp": "123456"}
    return api.post(f"/charges/{charge['id']}/verify", body)


def customer(api: Api) -> HttpResponse:
    body = {"email": "ana@example.com", "description": "Ana", "mobile_number": "12345", "metadata": {}}
    return api.post("/customers/", body)


def kept(api: Api) -> HttpResponse:
    return api.post(f"/customers/{made(customer(api))['id']}/sources", {"source": api.source()})


def given_up(api: Api) -> HttpResponse:
    row = made(kept(api))
    return api.delete(f"/customers/{row['id']}/sources/{row['sources'][0]['id']}")


def page(api: Api, path: str) -> HttpResponse:
    """Return the first page of a list with more, in which the objects are of many sorts."""
    made(charged(DECLINED)(api))
    made(refunded({"amount": 5})(api))
    made(kept(api))
    made(customer(api))
    response = api.get(path, limit=1 if path == "/customers/" else 8 if path == "/events/" else 1)
    assert "next" in made(response)
    return response


def logged(api: Api) -> HttpResponse:
    """Return the first of two pages of the log of requests."""
    for _ in range(2):
        newest_request(api)
    return api.get("/requests/", limit=1)


ANSWERS: dict[str, tuple[str, int, Ask]] = {
    "a card with everything": ("POST /v2/sources/", 200, lambda api: api.post("/sources/", EVERYTHING)),
    "a wallet": ("POST /v2/sources/", 200, lambda api: api.post("/sources/", {"type": "gcash"})),
    "a source": ("GET /v2/sources/{id}", 200, lambda api: api.get(f"/sources/{api.source()}")),
    "a capture at once": ("POST /v2/charges/", 201, charged("4000000000003055")),
    "a hold": ("POST /v2/charges/", 201, charged("4000000000003055", capture=False, require_auth=False)),
    "a challenge": ("POST /v2/charges/", 201, charged(CHALLENGED, redirect_url="https://a.example")),
    "a decline": ("POST /v2/charges/", 201, charged(DECLINED)),
    "a lost answer": ("POST /v2/charges/", 201, charged(ANSWER_LOST)),
    "a lost request": ("POST /v2/charges/", 201, charged(NEVER_ARRIVES)),
    "a debit by PIN": ("POST /v2/charges/", 201, debit),
    "a PIN": ("POST /v2/charges/{id}/verify", 200, verified),
    "a charge": ("GET /v2/charges/{id}", 200, lambda api: api.get(f"/charges/{api.charge()['id']}")),
    "charges": ("GET /v2/charges/", 200, lambda api: page(api, "/charges/")),
    "a capture": ("POST /v2/charges/{id}/capture", 200, posted_to_held("capture", {"amount": 1})),
    "a void": ("POST /v2/charges/{id}/void", 200, posted_to_held("void", None)),
    "a refund": ("POST /v2/charges/{id}/refund", 200, refunded({"amount": 1, "reason": "é"})),
    "a refund that will fail": ("POST /v2/charges/{id}/refund", 200, refunded(None, REFUNDS_FAIL)),
    "a new customer": ("POST /v2/customers/", 201, customer),
    "customers": ("GET /v2/customers/", 200, lambda api: page(api, "/customers/")),
    "a customer": ("GET /v2/customers/{id}", 200, lambda api: api.get(f"/customers/{made(kept(api))['id']}")),
    "a changed customer": (
        "PUT /v2/customers/{id}",
        200,
        lambda api: api.put(f"/customers/{made(kept(api))['id']}", {"description": "B"}),
    ),
    "a deleted customer": (
        "DELETE /v2/customers/{id}",
        200,
        lambda api: api.delete(f"/customers/{made(kept(api))['id']}"),
    ),
    "a customer by address": (
        "GET /v2/customers/by_email/{email}",
        200,
        lambda api: api.get(f"/customers/by_email/{made(customer(api))['email']}"),
    ),
    "a kept source": ("POST /v2/customers/{id}/sources", 200, kept),
    "a source given up": ("DELETE /v2/customers/{id}/sources/{source_id}", 200, given_up),
    "requests": ("GET /v2/requests/", 200, logged),
    "events": ("GET /v2/events/", 200, lambda api: page(api, "/events/")),
    "the account": ("GET /v2/me", 200, lambda api: api.get("/me")),
    "an echo": ("GET /v2/ping", 200, lambda api: api.get("/ping")),
    "a day later": ("POST /v2/test/clock", 200, lambda api: api.post("/test/clock", {"advance_seconds": 86_400})),
    "a bank account again": ("POST /v2/test/events", 200, lambda api: api.post("/test/events", CAUSED)),
    "no JSON": ("POST /v2/charges/", 400, lambda api: api.post("/charges/", b"{")),
    "no key": ("GET /v2/me", 401, lambda _: Api("sk_test_0").get("/me")),
    "no such object": ("GET /v2/charges/{id}", 404, lambda api: api.get("/charges/ch_1")),
    "no such source": ("POST /v2/charges/", 404, lambda api: api.post("/charges/", {**ORDER, "source": "src_1"})),
    "a used source": (
        "POST /v2/charges/",
        409,
        lambda api: api.post("/charges/", {**ORDER, "source": api.charge()["source"]["id"]}),
    ),
    "too much": ("POST /v2/charges/{id}/capture", 409, posted_to_held("capture", {"amount": 99_999})),
    "a long body": ("POST /v2/sources/", 413, lambda api: api.post("/sources/", b'"' + b"a" * 66_000 + b'"')),
    "another type": (
        "POST /v2/sources/",
        415,
        lambda api: api.client.post("/v2/sources/", b"a=b", content_type="text/plain", headers=api.headers()),
    ),
    "faults": ("POST /v2/sources/", 422, lambda api: api.post("/sources/", {"type": "card", "x": 1})),
    "a fault in the query": ("GET /v2/charges/", 422, lambda api: api.get("/charges/", limit=0)),
    "a fault in the domain": ("POST /v2/charges/", 422, lambda api: hold_by_wallet(api)),
}


def hold_by_wallet(api: Api) -> HttpResponse:
    return api.post("/charges/", {**ORDER, "source": api.wallet(), "capture": False})


@pytest.mark.long
@pytest.mark.parametrize(("call", "status", "ask"), ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_is_as_described(call: str, status: int, ask: Ask, api: Api, described: Document) -> None:
    response = ask(api)
    assert response.status_code == status, response.content
    described.check(*call.split(), response)


def test_a_publishable_key_is_refused_as_described(shop: NewMerchant, described: Document) -> None:
    response = Api(shop.keys["pk_test"]).get("/charges/")
    assert response.status_code == 403
    described.check("GET", "/v2/charges/", response)


def test_too_many_requests_are_refused_as_described(api: Api, described: Document, settings: object) -> None:
    settings.RATE_LIMIT = "1/year"
    api.get("/ping")
    response = api.get("/ping")
    assert response.status_code == 429
    described.check("GET", "/v2/ping", response)


def test_every_event_is_as_described(api: Api, described: Document) -> None:
    made(given_up(api))
    made(refunded({"amount": 5})(api))
    rows = made(api.get("/events/", limit=100))["data"]
    assert {row["type"].partition(".")[0] for row in rows} == {"charge", "refund", "source", "customer"}
    for row in rows:
        described.check("GET", "/v2/events/{id}", api.get(f"/events/{row['id']}"))


def test_a_description_that_does_not_fit_is_noticed(api: Api, described: Document) -> None:
    pointer = described.pointer_to("GET", "/v2/sources/{id}", 200)
    source = made(api.get(f"/sources/{api.source()}"))
    assert described.faults(pointer, source) == []
    for wrong in ({"used": 1}, {"more": 1}, {"card": {**source["card"], "brand": "x"}}, {"created_at": "now"}):
        assert described.faults(pointer, source | wrong), wrong
