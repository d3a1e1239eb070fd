"""Every route, asked with every sort of key: made from the URL resolver, so that a new route is here by itself.

A route that names something else than these tests know of fails them until `routes.things_of` can make one.
"""

import json
from itertools import product
from typing import Any

import pytest
from django.http import HttpResponse
from pytest_django import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.scopes import RIGHTS
from tests.client import Api, made
from tests.contract.scopes.routes import METHODS, Route, Things, keyless_routes, routes, things_of
from tests.factories import ApiKeyFactory
from tests.undone import undone

pytestmark = pytest.mark.long

ROUTES = routes()
CALLS = [(route, method) for route in ROUTES for method in route.methods]
NAMING = [(route, method) for route, method in CALLS if route.names_things(method)]
OPEN_TO_BROWSERS = {"source-list", "source-detail"}
FOR_ALL = {r"v2/openapi\.json/?$", "v2/health/?$"}


def every(calls: list[tuple[Route, str]]) -> pytest.MarkDecorator:
    ids = [f"{method} {route.name}" for route, method in calls]
    return pytest.mark.parametrize(("route", "method"), calls, ids=ids)


LISTS = [route for route in ROUTES if route.text_filters]
every_list = pytest.mark.parametrize("route", LISTS, ids=[route.name for route in LISTS])
every_route = pytest.mark.parametrize("route", ROUTES, ids=[route.name for route in ROUTES])


@pytest.fixture(autouse=True)
def _no_limits(settings: Settings) -> None:
    """All of these come from one address and at once."""
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = "1000000/second"


def answer_of(response: HttpResponse) -> tuple[int, Any, str | None]:
    """Return the body of a refusal without the request ID."""
    body = json.loads(response.content) if response.content else None
    if body and "error" in body:
        del body["error"]["request_id"]
    return response.status_code, body, response.get("WWW-Authenticate")


def code_of(response: HttpResponse) -> str | None:
    return json.loads(response.content)["error"]["code"] if response.content else None


# What a call needs beside its own right.
ALSO = {name: {"charges:write"} for name in ("checkout-session-capture", "payment-request-collect")}


def restricted(shop: NewMerchant, rights: set[str]) -> Api:
    return Api(ApiKeyFactory(merchant=shop.merchant, kind="restricted", rights=rights).text)


def refused_keys(shop: NewMerchant) -> dict[str, list[str]]:
    """Keys that do not work, by the code that says why."""
    over = [ApiKeyFactory(merchant=shop.merchant, **{end: clock.now()}).text for end in ("revoked_at", "expires_at")]
    elsewhere = ApiKeyFactory(merchant=shop.merchant, networks=["192.0.2.0/24"]).text
    return {"key_missing": [""], "key_invalid": ["hello", f"sk_test_{'0' * 48}", elsewhere], "key_revoked": over}


def test_no_other_route_answers_without_a_key() -> None:
    assert set(keyless_routes()) == FOR_ALL


def test_every_action_declares_a_right_and_every_right_opens_something() -> None:
    assert {route.right_for(method) for route, method in CALLS} == RIGHTS.keys()


@every_route
def test_a_key_that_does_not_work_learns_nothing(
    shop: NewMerchant, things: Things, nobodys: Things, route: Route
) -> None:
    for code, keys in refused_keys(shop).items():
        for api in map(Caller, keys):
            for method in METHODS:
                response = route.ask(api, method, things)
                expected = [(405, "method_not_allowed")] if method == "TRACE" else [(401, code), (401, None)]
                assert (response.status_code, code_of(response)) in expected, (method, code)
                assert answer_of(route.ask(api, method, nobodys)) == answer_of(response)


class Caller(Api):
    """Sends no Authorization at all where there is no key."""

    def headers(self) -> dict[str, str]:
        return super().headers() if self.key else {}


@every_route
def test_a_restricted_key_without_the_right_learns_nothing(
    shop: NewMerchant, things: Things, nobodys: Things, route: Route
) -> None:
    for method in METHODS:
        rights = {route.right_for(method)} if method in route.methods else set()
        api = restricted(shop, set(RIGHTS) - rights)
        response = route.ask(api, method, things)
        status, code = (403, "right_missing") if rights else (405, "method_not_allowed")
        assert (response.status_code, code_of(response)) in ((status, code), (status, None)), method
        assert answer_of(route.ask(api, method, nobodys)) == answer_of(response)


@every_route
def test_a_publishable_key_learns_nothing_where_browsers_have_no_business(
    shop: NewMerchant, things: Things, nobodys: Things, route: Route
) -> None:
    api = Api(shop.keys["pk_test"])
    for method in METHODS:
        response = route.ask(api, method, things)
        if route.name in OPEN_TO_BROWSERS:
            assert response.status_code == (200 if method in route.methods else 405)
        else:
            refused = [(403, "secret_key_required"), (403, None)]
            expected = [(405, "method_not_allowed")] if method == "TRACE" else refused
            assert (response.status_code, code_of(response)) in expected, method
            assert answer_of(route.ask(api, method, nobodys)) == answer_of(response)


@every(CALLS)
def test_a_restricted_key_with_the_right_is_let_in(
    shop: NewMerchant, things: Things, nobodys: Things, route: Route, method: str
) -> None:
    api = restricted(shop, {route.right_for(method), *ALSO.get(route.name, ())})
    # 409 is an answer about the object: it may be in no state for it.
    missing = route.ask(api, method, nobodys).status_code
    assert missing == 404 if route.names_things(method) else missing in (200, 201, 409)
    assert route.ask(api, method, things).status_code in (200, 201, 409)


def outsiders(shop: NewMerchant, other_shop: NewMerchant) -> dict[str, Api]:
    """Keys that work, but not for what the shop has in test mode."""
    return {
        "another merchant": Api(other_shop.keys["sk_test"]),
        "another merchant in the other mode": Api(other_shop.keys["sk_live"]),
        "the other mode": Api(shop.keys["sk_live"]),
        "a browser": Api(other_shop.keys["pk_test"]),
        "another merchant, restricted": restricted(other_shop, set(RIGHTS)),
    }


@every(NAMING)
def test_somebody_elses_thing_is_missing_like_one_that_never_was(
    shop: NewMerchant, other_shop: NewMerchant, things: Things, nobodys: Things, route: Route, method: str
) -> None:
    owner = Api(shop.keys["sk_test"])
    before = seen_by(owner, things)
    for who, api in outsiders(shop, other_shop).items():
        response = route.ask(api, method, things)
        assert response.status_code == (403 if who == "a browser" and route.name not in OPEN_TO_BROWSERS else 404), who
        assert answer_of(response) == answer_of(route.ask(api, method, nobodys)), who
    assert seen_by(owner, things) == before


@every(NAMING)
def test_one_thing_of_somebody_else_among_ones_own_is_missing_likewise(
    other_api: Api, things: Things, nobodys: Things, route: Route, method: str
) -> None:
    own = things_of(other_api)
    for name in things:
        with undone():
            response = route.ask(other_api, method, own | {name: things[name]})
        if response.status_code != 404:
            # Then nothing in this request names such a thing, and what was done was done with one's own.
            assert things[name] not in response.content.decode()
        assert response.status_code in (200, 201, 404, 409)


@every_list
@pytest.mark.parametrize("other", ["other_api", "live_api"])
def test_a_list_by_somebody_elses_thing_is_one_by_what_never_was(
    request: pytest.FixtureRequest, things: Things, nobodys: Things, route: Route, other: str
) -> None:
    api: Api = request.getfixturevalue(other)
    for name, thing in product(route.text_filters, things):
        answers = [api.get(route.path(things), **{name: by[thing]}) for by in (things, nobodys)]
        assert answer_of(answers[0]) == answer_of(answers[1]), (name, thing)
        assert answers[0].status_code in ((404,) if route.parts else (200, 400, 422))


@every([call for call in CALLS if call not in NAMING])
@pytest.mark.parametrize("other", ["other_api", "live_api"])
def test_what_names_nothing_shows_nothing_of_somebody_elses(
    request: pytest.FixtureRequest, things: Things, route: Route, method: str, other: str
) -> None:
    shown = route.ask(request.getfixturevalue(other), method, things).content.decode()
    assert [thing for thing in things.values() if thing in shown] == []


def seen_by(api: Api, things: Things) -> list[Any]:
    """Return everything that the owner can read."""
    kept, charge, source = things["customer"], things["charge"], things["source"]
    return [made(api.get(path)) for path in (f"/customers/{kept}", f"/charges/{charge}", f"/sources/{source}")]
