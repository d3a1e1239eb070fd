"""Every call of the contract's table of endpoints, ready to be made, and values that break one rule each."""

import json
from copy import deepcopy
from typing import Any

import pytest
from django.http import HttpResponse

from payments import clock
from payments.domain.merchants.api_keys import find_key
from payments.domain.payouts import make
from payments.ids import new_id, parse_id, public_id
from payments.models import ApiRequest, PayoutSchedule
from tests.client import Api, made
from tests.contract import checkout_shapes, shapes
from tests.contract.call import Asked, Call, about, at
from tests.contract.checkout_calls import CHECKOUT_CALLS
from tests.disputes.stories import AT_ONCE, disputed
from tests.payouts.stories import give_account, give_schedule, settled
from tests.transparency.log import sign_all

CARD = {"name": "Juan dela Cruz", "number": "4000000000003055", "exp_month": "12", "exp_year": "2039", "cvc": "123"}
CARD_SOURCE = {"type": "card", "card": CARD}
EVIDENCE = {"type": "receipt", "text": "Signed for by Juan dela Cruz"}
CUSTOMER = {"email": "maria@shop.example", "description": "Orders rice on Mondays"}
ENDPOINT = {"url": "https://shop.example/events", "enabled_events": ["*"]}
CAUSED = {"type": "payout_account.created"}
# Nothing is ever sent there.
NOWHERE = "https://127.0.0.1:2002/"
# Whatever is no string in JSON, null apart.
NO_STRINGS = [5, 1.5, True, [], {}]
NO_INTEGERS = ["100", 100.0, True, [], {}]
NO_BOOLEANS = ["true", 1, 0, "", [], {}]
# Not `[]`: PHP writes an empty object so.
NO_OBJECTS = ["text", 5, True, [1]]
# None of these is in P, though some regular expressions take the last ones for letters, digits or an end.
BEYOND_P = ["é€", "%", "a/b", "a@b", '"', "a\x01", "日本。", "١٢٣", "１２３", "abc\n"]


def customer(api: Api, **members: Any) -> dict[str, Any]:
    """Return a new customer."""
    return made(api.post("/customers/", CUSTOMER | members))


def vaulted(api: Api, number: str = "4000000000003055") -> str:
    """Return the ID of a card that is kept for a new customer."""
    return keep(api, api.source(number))


def keep(api: Api, source: str) -> str:
    """Attaches `source` to a new customer."""
    made(api.post(f"/customers/{customer(api)['id']}/sources", {"source": source}))
    return source


def debit(api: Api, bank: str = "bpi") -> dict[str, Any]:
    """Return a charge that waits for a one-time PIN."""
    return api.charge_source(api.wallet(bank))


def newest_event(api: Api) -> str:
    """Return the ID of a new event, of a source created for it."""
    api.wallet()
    return made(api.get("/events/"))["data"][0]["id"]


def new_dispute(api: Api) -> str:
    """Return the ID of the dispute of a new charge."""
    charge = disputed(api, AT_ONCE)
    return made(api.get("/disputes/", charge=charge["id"]))["data"][0]["id"]


def with_evidence(api: Api) -> str:
    """Return the ID of a new dispute that has evidence."""
    dispute = new_dispute(api)
    made(api.post(f"/disputes/{dispute}/evidence", EVIDENCE))
    return dispute


def new_payout(api: Api) -> str:
    """Return the ID of a new payout, made of a charge that was settled for it."""
    merchant = find_key(api.key).merchant
    schedule = PayoutSchedule.objects.filter(merchant=merchant).first() or give_schedule(merchant)
    give_account(merchant)
    settled(api)
    return public_id("po", make.make_now(schedule.id).id)


def new_transaction(api: Api) -> str:
    """Return the ID of the newest transaction of the balance, which a new charge changed."""
    api.charge()
    return made(api.get("/balance_transactions/"))["data"][0]["id"]


def proven(api: Api) -> str:
    """Return the ID of a new transaction that a signed head of the log has."""
    transaction = new_transaction(api)
    sign_all()
    return transaction


def endpoint(api: Api, **members: Any) -> dict[str, Any]:
    """Return a new webhook endpoint, with its secret."""
    return made(api.post("/webhook_endpoints/", ENDPOINT | members))


def newest_request(api: Api) -> str:
    """Return the ID of a request, written as the log's thread writes it."""
    answer = api.get("/ping")
    key = find_key(api.key)
    owner = {"merchant_id": key.merchant_id, "livemode": key.livemode, "api_key": key}
    asked = {"method": "GET", "path": "/v2/ping", "status": 200, "milliseconds": 1, "created_at": clock.now()}
    ApiRequest.objects.create(request_id=parse_id("req", answer["Request-Id"]), **owner, **asked)
    return answer["Request-Id"]


def order(source: str, /, **members: Any) -> dict[str, Any]:
    """Return the body that charges a source."""
    return {"amount": 10_000, "currency": "PHP", "source": source, "description": "Halo-halo", **members}


def nobodys(prefix: str) -> str:
    """Return an ID that was never given to anything."""
    return public_id(prefix, new_id())


def faults_of(response: HttpResponse) -> dict[str, str]:
    """Return the code of each fault of a refused request by the dotted name of its member.

    The paths of checkouts answer 400, with words that their clients know.
    """
    body = json.loads(response.content)
    words = {422: "validation_error", 400: "invalid_request_error"}
    assert body["error"]["type"] == words.get(response.status_code), response.content
    assert (response.status_code == 400) == ("message" in body), response.content
    return {".".join(fault["loc"][1:]): fault["type"] for fault in body["detail"]}


def _verify(api: Api) -> Asked:
    charge = debit(api)
    return f"/charges/{charge['id']}/verify", {"confirmation_id": charge["action"]["confirmation_id"], "otp": "123456"}


def _attach(api: Api) -> Asked:
    return f"/customers/{customer(api)['id']}/sources", {"source": api.source()}


def _detach(api: Api) -> Asked:
    path, body = _attach(api)
    made(api.post(path, body))
    return f"{path}/{body['source']}", None


# Of each call, a path and a body by which it succeeds.
Requests = dict[Call, Asked]
ENDPOINTS = "webhook_endpoints"
CALLS = {
    "create a source": Call("POST", lambda api: ("/sources", CARD_SOURCE), 200, shapes.SOURCE),
    "read a source": Call("GET", lambda api: (f"/sources/{api.source()}", None), 200, shapes.SOURCE),
    "charge": Call("POST", lambda api: ("/charges", order(api.source())), 201, shapes.CHARGE),
    "list charges": Call("GET", lambda api: ("/charges", None), 200, shapes.page_of(shapes.CHARGE)),
    "read a charge": Call("GET", lambda api: (f"/charges/{api.charge()['id']}", None), 200, shapes.CHARGE),
    "capture": Call("POST", lambda api: (f"/charges/{api.held()['id']}/capture", {"amount": 1}), 200, shapes.CHARGE),
    "void": Call("POST", lambda api: (f"/charges/{api.held()['id']}/void", None), 200, shapes.CHARGE),
    "refund": Call("POST", lambda api: (f"/charges/{api.charge()['id']}/refund", {"amount": 1}), 200, shapes.CHARGE),
    "verify": Call("POST", _verify, 200, shapes.CHARGE),
    "create a customer": Call("POST", lambda api: ("/customers", CUSTOMER), 201, shapes.CUSTOMER),
    "list customers": Call("GET", lambda api: ("/customers", None), 200, shapes.page_of(shapes.CUSTOMER)),
    "read a customer": Call("GET", lambda api: (f"/customers/{customer(api)['id']}", None), 200, shapes.CUSTOMER),
    "change a customer": Call(
        "PUT", lambda api: (f"/customers/{customer(api)['id']}", {"mobile_number": "09171234567"}), 200, shapes.CUSTOMER
    ),
    "delete a customer": Call("DELETE", lambda api: (f"/customers/{customer(api)['id']}", None), 200, shapes.DELETED),
    "find a customer": Call(
        "GET", lambda api: (f"/customers/by_email/{customer(api)['email']}", None), 200, shapes.CUSTOMER
    ),
    "attach": Call("POST", _attach, 200, shapes.CUSTOMER),
    "detach": Call("DELETE", _detach, 200, shapes.CUSTOMER),
    "list disputes": Call("GET", lambda api: ("/disputes", None), 200, shapes.page_of(shapes.DISPUTE)),
    "add evidence": Call(
        "POST", lambda api: (f"/disputes/{new_dispute(api)}/evidence", EVIDENCE), 201, shapes.EVIDENCE
    ),
    "list evidence": Call("GET", lambda api: (f"/disputes/{with_evidence(api)}/evidence", None), 200, shapes.EVIDENCES),
    "submit evidence": Call("POST", lambda api: (f"/disputes/{with_evidence(api)}/submit", None), 200, shapes.DISPUTE),
    "accept a dispute": Call("POST", lambda api: (f"/disputes/{new_dispute(api)}/accept", None), 200, shapes.DISPUTE),
    "read a dispute": Call("GET", lambda api: (f"/disputes/{new_dispute(api)}", None), 200, shapes.DISPUTE),
    "list payouts": Call("GET", lambda api: ("/payouts", None), 200, shapes.page_of(shapes.PAYOUT)),
    "read a payout": Call("GET", lambda api: (f"/payouts/{new_payout(api)}", None), 200, shapes.PAYOUT),
    "list the transactions of a payout": Call(
        "GET",
        lambda api: (f"/payouts/{new_payout(api)}/transactions", None),
        200,
        shapes.page_of(shapes.TRANSACTION),
    ),
    "list balance transactions": Call(
        "GET", lambda api: ("/balance_transactions", None), 200, shapes.page_of(shapes.TRANSACTION)
    ),
    "read a balance transaction": Call(
        "GET", lambda api: (f"/balance_transactions/{new_transaction(api)}", None), 200, shapes.TRANSACTION
    ),
    "prove a balance transaction": Call("GET", lambda api: (f"/proofs/{proven(api)}", None), 200, shapes.PROOF),
    "list events": Call("GET", lambda api: ("/events", None), 200, shapes.page_of(shapes.EVENT)),
    "read an event": Call("GET", lambda api: (f"/events/{newest_event(api)}", None), 200, shapes.EVENT),
    "list requests": Call("GET", lambda api: ("/requests", None), 200, shapes.page_of(shapes.REQUEST)),
    "read a request": Call("GET", lambda api: (f"/requests/{newest_request(api)}", None), 200, shapes.REQUEST),
    "me": Call("GET", lambda api: ("/me", None), 200, shapes.ORGANIZATION),
    "let time pass": Call("POST", lambda api: ("/test/clock", {"advance_seconds": 1}), 200, shapes.CLOCK),
    "have a bank or a person act": Call("POST", at("test/events", CAUSED), 200, shapes.EVENT),
    "balance": Call("GET", lambda api: ("/balance", None), 200, shapes.BALANCE),
    "ping": Call("GET", lambda api: ("/ping", None), 200, shapes.NOTHING),
    "list endpoints": Call("GET", at(ENDPOINTS), 200, shapes.page_of(checkout_shapes.ENDPOINT)),
    "make an endpoint": Call("POST", at(ENDPOINTS, ENDPOINT), 201, checkout_shapes.NEW_ENDPOINT),
    "read an endpoint": Call("GET", about(ENDPOINTS, endpoint), 200, checkout_shapes.ENDPOINT),
    "change an endpoint": Call(
        "PUT", about(ENDPOINTS, endpoint, body={"status": "paused"}), 200, checkout_shapes.ENDPOINT
    ),
    "delete an endpoint": Call("DELETE", about(ENDPOINTS, endpoint), 200, checkout_shapes.DELETED_ENDPOINT),
    "test an endpoint": Call(
        "POST", about(ENDPOINTS, lambda api: endpoint(api, url=NOWHERE), "/test"), 200, checkout_shapes.ENDPOINT_TEST
    ),
    "roll the secret of an endpoint": Call(
        "POST", about(ENDPOINTS, endpoint, "/roll_secret", {"overlap_seconds": 60}), 200, checkout_shapes.NEW_ENDPOINT
    ),
    **CHECKOUT_CALLS,
}
POSTS = {name: call for name, call in CALLS.items() if call.method == "POST"}
GETS = {name: call for name, call in CALLS.items() if call.method == "GET"}
BROWSERS_MAY = ("create a source", "read a source")


def counts(api: Api) -> dict[str, int]:
    """How much of everything there is."""
    lists = ("charges", "customers", "events", "checkout_sessions", "payment_links", "payment_requests")
    return {name: len(made(api.get(f"/{name}/", limit=100))["data"]) for name in lists}


def with_members(body: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of `body` in which each member of a dotted name (`owner.billing.name`) has its value."""
    changed = deepcopy(body)
    for name, value in members.items():
        *path, last = name.split(".")
        inner = changed
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return changed


def value_at(body: Any, name: str) -> Any:
    """Return the member of `body` at a dotted name, None if it is absent."""
    for part in name.split("."):
        body = body.get(part) if isinstance(body, dict) else None
    return body


def each(values: list[Any]) -> pytest.MarkDecorator:
    """One test for each of these values."""
    return pytest.mark.parametrize("value", values, ids=[ascii(value)[:40] for value in values])


def every(calls: dict[str, Call]) -> pytest.MarkDecorator:
    """Return the mark that runs a test with each of these calls."""
    return pytest.mark.parametrize("call", calls.values(), ids=calls.keys())
