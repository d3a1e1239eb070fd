"""Keys that may do little, or from few places, and when a key was last used."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from django.urls import resolve
from pytest_django import Settings

from payments import clock, failpoints
from payments.domain.merchants.api_keys import find_key, revoke_key, roll_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.scopes import RIGHTS
from payments.failpoints import Failpoint
from payments.models import ApiKey
from tests.client import Api, error_of, made
from tests.contract.calls import CALLS, Call, every, nobodys
from tests.contract.shapes import ERROR, faults_in
from tests.factories import ApiKeyFactory


@pytest.fixture(autouse=True)
def _many_outsiders(settings: Settings) -> None:
    """All of these come from one address."""
    settings.RATE_LIMIT_ANONYMOUS = "100000/second"


def restricted(shop: NewMerchant, *rights: str) -> Api:
    """Return the API with a key of the shop that has these rights alone."""
    return Api(ApiKeyFactory(merchant=shop.merchant, kind="restricted", rights=rights).text)


def right_for(call: Call, path: str) -> str:
    """Return the right that the view behind `path` declares for this call."""
    view = resolve(f"/v2{path}").func
    return view.cls.right_for(view.actions[call.method.lower()], call.method)


def bytes_of(response: HttpResponse) -> tuple[int, dict[str, Any], str]:
    """Return a refusal, without what names the request."""
    body = json.loads(response.content)
    del body["error"]["request_id"]
    return response.status_code, body, response["WWW-Authenticate"]


@pytest.mark.long
@every(CALLS)
def test_the_right_for_a_call_is_enough_for_it(api: Api, shop: NewMerchant, call: Call) -> None:
    path, body = call.prepare(api)
    rights = {right_for(call, path), call.further_right} - {""}
    assert call.make(restricted(shop, *rights), path, body).status_code == call.status


def test_a_session_is_captured_only_with_the_right_to_charge_too(api: Api, shop: NewMerchant) -> None:
    path, body = CALLS["capture a session"].prepare(api)
    response = restricted(shop, "checkout:write").post(path, body)
    assert (response.status_code, error_of(response)["code"]) == (403, "right_missing")
    assert error_of(response)["message"] == "This key lacks the right charges:write."


@pytest.mark.long
@every(CALLS)
def test_all_other_rights_are_not(api: Api, shop: NewMerchant, call: Call) -> None:
    path, body = call.prepare(api)
    right = right_for(call, path)
    response = call.make(restricted(shop, *(RIGHTS.keys() - {right})), path, body)
    error = error_of(response)
    assert (response.status_code, error["type"], error["code"]) == (403, "permission_error", "right_missing")
    assert error["message"] == f"This key lacks the right {right}."
    assert faults_in(response.json(), ERROR) == []


@pytest.mark.parametrize("rights", [["events:read"], [*RIGHTS]], ids=["one right", "all rights"])
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_a_method_that_nobody_may_use_is_not_a_matter_of_rights(
    shop: NewMerchant, method: str, rights: list[str]
) -> None:
    response = restricted(shop, *rights).send(method, "/charges/", None, {})
    assert (response.status_code, error_of(response)["code"]) == (405, "method_not_allowed")
    assert response["Allow"] == "GET, HEAD, POST"


def test_a_refused_refund_moves_nothing(api: Api, shop: NewMerchant) -> None:
    charge = api.charge()
    restricted(shop, "charges:read", "charges:write").post(f"/charges/{charge['id']}/refund")
    assert api.read(charge) == charge


def test_a_captured_charge_is_voided_only_with_the_right_to_refund(api: Api, shop: NewMerchant) -> None:
    charge = api.charge()
    response = restricted(shop, "charges:write").post(f"/charges/{charge['id']}/void")
    error = error_of(response)
    assert (response.status_code, error["code"]) == (403, "right_missing")
    assert error["message"] == "This key lacks the right refunds:write."
    assert api.read(charge) == charge
    voided = made(restricted(shop, "charges:write", "refunds:write").post(f"/charges/{charge['id']}/void"))
    assert voided["status"] == "voided"


def test_the_right_to_refund_alone_voids_nothing(api: Api, shop: NewMerchant) -> None:
    charge = api.charge()
    response = restricted(shop, "refunds:write").post(f"/charges/{charge['id']}/void")
    assert error_of(response)["message"] == "This key lacks the right charges:write."
    assert api.read(charge) == charge


def test_a_held_charge_is_voided_without_the_right_to_refund(api: Api, shop: NewMerchant) -> None:
    held = api.held()
    assert made(restricted(shop, "charges:write").post(f"/charges/{held['id']}/void"))["status"] == "voided"


def test_a_charge_that_is_captured_meanwhile_is_not_voided_without_the_right_to_refund(
    api: Api, shop: NewMerchant
) -> None:
    held, captured = api.held(), []

    def capture(step: Failpoint) -> None:
        if step is Failpoint.OPENING and not captured:
            captured.append(held["id"])
            made(api.post(f"/charges/{held['id']}/capture"))

    voiding = restricted(shop, "charges:write")
    failpoints.listen(capture)
    try:
        response = voiding.post(f"/charges/{held['id']}/void")
    finally:
        failpoints.listen(None)
    assert (captured, response.status_code, error_of(response)["code"]) == ([held["id"]], 403, "right_missing")
    assert api.read(held)["captured"] is True


@pytest.mark.parametrize("kind", ["secret", "publishable", "restricted"])
def test_from_elsewhere_a_key_answers_like_one_that_never_was(shop: NewMerchant, kind: str) -> None:
    rights = {"rights": ["sources:read"]} if kind == "restricted" else {}
    key = ApiKeyFactory(merchant=shop.merchant, kind=kind, networks=["10.0.0.0/8", "2001:db8::/32"], **rights)
    path = f"/sources/{nobodys('src')}"
    unknown = Api(f"{key.text[:-48]}{'0' * 48}").get(path)
    assert error_of(unknown)["code"] == "key_invalid"
    assert bytes_of(Api(key.text).get(path)) == bytes_of(unknown)
    revoke_key(key)
    assert bytes_of(Api(key.text).get(path)) == bytes_of(unknown)


@pytest.mark.parametrize(
    ("forwarded", "status"),
    [("10.1.2.3", 200), ("2001:db8::7", 200), ("11.1.2.3", 401), ("10.1.2.3, 11.1.2.3", 401), ("sesame", 401)],
)
def test_the_address_is_the_one_that_our_own_proxy_saw(
    shop: NewMerchant, settings: Settings, forwarded: str, status: int
) -> None:
    settings.TRUSTED_PROXIES = 1
    key = ApiKeyFactory(merchant=shop.merchant, networks=["10.0.0.0/8", "2001:db8::/32"])
    assert Api(key.text).send("GET", "/ping", None, {"X-Forwarded-For": forwarded}).status_code == status


def test_without_a_proxy_of_ours_nobody_says_where_they_are(shop: NewMerchant) -> None:
    key = ApiKeyFactory(merchant=shop.merchant, networks=["10.0.0.0/8"])
    assert Api(key.text).send("GET", "/ping", None, {"X-Forwarded-For": "10.1.2.3"}).status_code == 401


def test_the_successor_of_a_rolled_key_is_bound_likewise(shop: NewMerchant) -> None:
    limits = {"rights": ["account:read"], "networks": ["127.0.0.0/8"]}
    old = ApiKeyFactory(merchant=shop.merchant, kind="restricted", **limits)
    _, text = roll_key(old, timedelta(hours=1))
    answers = [(Api(key).get("/ping").status_code, Api(key).get("/charges/").status_code) for key in (old.text, text)]
    assert answers == [(200, 403), (200, 403)]
    ApiKey.objects.update(allowed_networks=["10.0.0.0/8"])
    assert Api(text).get("/ping").status_code == 401


def test_a_key_has_the_time_of_its_last_use(api: Api) -> None:
    assert find_key(api.key).last_used_at is None
    made(api.get("/ping"))
    first = find_key(api.key).last_used_at
    assert first
    assert clock.now() - first < timedelta(minutes=1)
    made(api.get("/ping"))
    assert find_key(api.key).last_used_at == first


def test_a_refused_key_was_not_used(api: Api) -> None:
    revoke_key(find_key(api.key))
    assert api.get("/ping").status_code == 401
    assert find_key(api.key).last_used_at is None


@pytest.mark.django_db(transaction=True)
def test_a_use_that_cannot_be_noted_fails_no_request(api: Api) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE payments_apikey ADD CONSTRAINT never_used CHECK (last_used_at IS NULL)")
    try:
        assert api.charge()["status"] == "succeeded"
        assert find_key(api.key).last_used_at is None
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE payments_apikey DROP CONSTRAINT never_used")


@pytest.mark.django_db(transaction=True)
def test_noting_a_use_costs_three_statements_after_the_answer_and_a_later_one_none(api: Api) -> None:
    with CaptureQueriesContext(connection) as first:
        api.get("/ping")
    with CaptureQueriesContext(connection) as second:
        api.get("/ping")
    assert [len(first), len(second)] == [4, 1]
