"""An object of another merchant, or of the other mode, does not exist, and no statement of a view reaches for it."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse

from payments.domain.merchants.api_keys import find_key
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import public_id
from tests.client import Api
from tests.contract.calls import customer, newest_event, nobodys, order
from tests.contract.scopes.routes import Route, Things
from tests.contract.scopes.statements import Watch
from tests.contract.scopes.test_every_route import CALLS, every, every_list
from tests.contract.shapes import ERROR, SOURCE_TYPES, faults_in
from tests.factories import ChargeFactory, SourceFactory

VERIFY = {"confirmation_id": "12345", "otp": "123456"}
# How to ask for the object with this ID; whatever else it takes is the asker's own.
ASKING: dict[str, tuple[str, Callable[[Api, str], HttpResponse]]] = {
    "read source": ("src", lambda api, text: api.get(f"/sources/{text}")),
    "charge source": ("src", lambda api, text: api.post("/charges/", order(text))),
    "attach source": ("src", lambda api, text: api.post(f"/customers/{customer(api)['id']}/sources", {"source": text})),
    "detach source": ("src", lambda api, text: api.delete(f"/customers/{customer(api)['id']}/sources/{text}")),
    "read charge": ("ch", lambda api, text: api.get(f"/charges/{text}")),
    "capture": ("ch", lambda api, text: api.post(f"/charges/{text}/capture")),
    "void": ("ch", lambda api, text: api.post(f"/charges/{text}/void")),
    "refund": ("ch", lambda api, text: api.post(f"/charges/{text}/refund")),
    "verify": ("ch", lambda api, text: api.post(f"/charges/{text}/verify", VERIFY)),
    "read customer": ("cus", lambda api, text: api.get(f"/customers/{text}")),
    "change customer": ("cus", lambda api, text: api.put(f"/customers/{text}", {"description": "Mine now"})),
    "delete customer": ("cus", lambda api, text: api.delete(f"/customers/{text}")),
    "attach to customer": ("cus", lambda api, text: api.post(f"/customers/{text}/sources", {"source": nobodys("src")})),
    "detach from customer": ("cus", lambda api, text: api.delete(f"/customers/{text}/sources/{nobodys('src')}")),
    "read event": ("evt", lambda api, text: api.get(f"/events/{text}")),
}
MAKING: dict[str, Callable[[Api], str]] = {
    "src": lambda api: api.source(),
    "ch": lambda api: api.held()["id"],
    "cus": lambda api: customer(api)["id"],
    "evt": newest_event,
}


def refusal(response: HttpResponse) -> dict[str, Any]:
    """Return the body of a 404, without what names the request."""
    body = response.json()
    assert response.status_code == 404
    assert faults_in(body, ERROR) == []
    del body["error"]["request_id"]
    return body


@pytest.mark.long
@pytest.mark.parametrize("asking", ASKING)
@pytest.mark.parametrize("asker", ["other_api", "live_api"])
def test_somebody_elses_object_is_missing_like_one_that_never_was(
    request: pytest.FixtureRequest, api: Api, asker: str, asking: str
) -> None:
    prefix, ask = ASKING[asking]
    other: Api = request.getfixturevalue(asker)
    expected = refusal(ask(other, nobodys(prefix)))
    assert refusal(ask(other, MAKING[prefix](api))) == expected


@pytest.mark.parametrize("asking", [name for name, (prefix, _) in ASKING.items() if prefix in ("src", "ch")])
def test_an_object_of_live_mode_is_missing_in_test_mode(api: Api, shop: NewMerchant, asking: str) -> None:
    prefix, ask = ASKING[asking]
    made = ChargeFactory(merchant=shop.merchant, livemode=True, is_held=True)
    text = public_id(prefix, made.id if prefix == "ch" else SourceFactory(merchant=shop.merchant, livemode=True).id)
    assert refusal(ask(api, text)) == refusal(ask(api, nobodys(prefix)))


@pytest.mark.parametrize("asking", [name for name, (prefix, _) in ASKING.items() if prefix == "ch"])
def test_another_merchant_changes_nothing(api: Api, other_api: Api, asking: str) -> None:
    charge = api.held()
    ASKING[asking][1](other_api, charge["id"])
    assert api.read(charge) == charge


@pytest.mark.parametrize("asking", ["read source", "charge source", "read charge", "void", "read event"])
def test_an_id_is_exact(api: Api, asking: str) -> None:
    prefix, ask = ASKING[asking]
    text = MAKING[prefix](api)
    digits = text.partition("_")[2]
    spoilt = [text.upper(), digits, f"re_{digits}", text[:-1], text + "0", f"{prefix}__{digits}", text[:-1] + "g"]
    assert [ask(api, one).status_code for one in spoilt] == [404] * len(spoilt)


@pytest.mark.parametrize("path", ["/charges/", "/customers/", "/events/"])
@pytest.mark.parametrize("asker", ["other_api", "live_api"])
def test_no_list_shows_somebody_elses_objects(request: pytest.FixtureRequest, api: Api, asker: str, path: str) -> None:
    api.charge()
    customer(api)
    other: Api = request.getfixturevalue(asker)
    assert other.get(path).json()["data"] == []


@pytest.mark.parametrize("asker", ["other_api", "live_api"])
def test_a_customer_is_not_found_by_its_address_elsewhere(request: pytest.FixtureRequest, api: Api, asker: str) -> None:
    made = customer(api)
    other: Api = request.getfixturevalue(asker)
    assert other.get(f"/customers/by_email/{made['email']}").status_code == 404


@pytest.mark.parametrize("source_type", SOURCE_TYPES)
def test_no_type_of_source_is_available_in_live_mode_yet(live_api: Api, source_type: str) -> None:
    body: dict[str, Any] = {"type": source_type}
    if source_type == "card":
        body["card"] = {
            "name": "Juan",
            "number": "4242424242424242",
            "exp_month": "1",
            "exp_year": "2039",
            "cvc": "1234",
        }
    response = live_api.post("/sources/", body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (422, "source_type_unavailable", "type")
    assert response.json()["detail"][0]["loc"] == ["body", "type"]


def test_a_live_key_makes_live_objects(live_api: Api) -> None:
    assert customer(live_api)["livemode"] is True


def test_a_test_key_makes_test_objects(api: Api) -> None:
    charge = api.charge()
    assert (charge["livemode"], charge["source"]["livemode"], customer(api)["livemode"]) == (False, False, False)


# HEAD asks what GET asks.
@pytest.mark.long
@every([(route, method) for route, method in CALLS if method != "HEAD"])
@pytest.mark.parametrize("asker", ["api", "other_api", "live_api"])
def test_no_statement_reaches_further_than_its_key(
    request: pytest.FixtureRequest, things: Things, nobodys: Things, route: Route, method: str, asker: str
) -> None:
    caller: Api = request.getfixturevalue(asker)
    key = find_key(caller.key)
    for asked in (nobodys, things, things):
        watch = Watch(key.merchant_id, key.livemode)
        with connection.execute_wrapper(watch):
            route.ask(caller, method, asked, **{"Idempotency-Key": "once"})
        assert watch.loose == []


@pytest.mark.long
@every_list
@pytest.mark.parametrize("asker", ["api", "other_api", "live_api"])
def test_no_list_reaches_further_than_its_key_whatever_it_is_filtered_by(
    request: pytest.FixtureRequest, things: Things, route: Route, asker: str
) -> None:
    caller: Api = request.getfixturevalue(asker)
    key = find_key(caller.key)
    for name, thing in product(route.text_filters, things.values()):
        watch = Watch(key.merchant_id, key.livemode)
        with connection.execute_wrapper(watch):
            caller.get(route.path(things), **{name: thing})
        assert watch.loose == [], name
