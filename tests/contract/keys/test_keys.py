"""Who may call: the forms in which a key is sent, and the keys that do not work (any more)."""

import base64
from datetime import timedelta

import pytest
from django.http import HttpResponse
from pytest_django import Settings

from payments import clock
from payments.domain.merchants.api_keys import find_key, revoke_key, roll_key
from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApiKey
from tests.client import Api, error_of
from tests.contract.calls import CALLS, CARD_SOURCE, Call, every
from tests.contract.shapes import ERROR, faults_in


@pytest.fixture(autouse=True)
def _many_outsiders(settings: Settings) -> None:
    """All of these come from one address."""
    settings.RATE_LIMIT_ANONYMOUS = "100000/second"


def ping(authorization: str | None) -> HttpResponse:
    headers = {} if authorization is None else {"Authorization": authorization}
    return Api("").client.get("/v2/ping", headers=headers)


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


def code_for(authorization: str | None) -> str:
    response = ping(authorization)
    error = error_of(response)
    assert (response.status_code, error["type"]) == (401, "authentication_error")
    return error["code"]


@pytest.mark.parametrize("form", ["Basic", "Bearer"])
@pytest.mark.parametrize("name", ["sk_test", "sk_live"])
def test_a_key_is_sent_as_basic_or_bearer(shop: NewMerchant, form: str, name: str) -> None:
    key = shop.keys[name]
    response = ping(basic(f"{key}:") if form == "Basic" else f"Bearer {key}")
    assert (response.status_code, response.content) == (200, b"{}")


@pytest.mark.parametrize("name", ["sk_live", "sk_test", "pk_live", "pk_test"])
def test_a_key_says_what_it_is_and_is_hard_to_guess(shop: NewMerchant, name: str) -> None:
    kind, secret = shop.keys[name][:8], shop.keys[name][8:]
    assert kind == f"{name}_"
    # Hex digits carry four bits each, and 190 bits are the least.
    assert len(secret) * 4 >= 190


@pytest.mark.parametrize("authorization", [None, ""])
def test_no_key_is_a_missing_one(db: None, authorization: str | None) -> None:
    assert code_for(authorization) == "key_missing"


@pytest.mark.parametrize(
    "authorization",
    [
        "Basic \xe9",
        f"Bearer sk_test_{'0' * 48}",
        f"Bearer sk_live_{'0' * 48}",
        "Bearer hello",
        "Bearer two words",
        basic("hello:"),
        "Basic !!!",
        "Basic /////w==",
        "Basic c2tfdGVzdA",
        "Digest username=sk_test",
        "Token sk_test_1",
        basic(f"sk_test_{'0' * 48}\x00:"),
        f"Bearer sk_test_{'0' * 5000}",
        "Bearer sk_test_ñandú",
    ],
)
def test_a_malformed_or_unknown_key_is_invalid(db: None, authorization: str) -> None:
    assert code_for(authorization) == "key_invalid"


def test_a_key_with_anything_more_is_unknown(api: Api) -> None:
    assert code_for(f"Bearer {api.key}0") == "key_invalid"
    assert code_for(f"Bearer {api.key[:-1]}") == "key_invalid"
    assert code_for(f"Bearer {api.key.upper()}") == "key_invalid"


def test_the_key_of_one_mode_is_none_of_the_other(api: Api) -> None:
    assert code_for(f"Bearer {api.key.replace('test', 'live')}") == "key_invalid"


def test_a_revoked_key_is_refused_at_once(api: Api) -> None:
    assert api.get("/ping").status_code == 200
    revoke_key(find_key(api.key))
    assert code_for(f"Bearer {api.key}") == "key_revoked"


def test_a_rolled_key_and_its_successor_both_work_until_the_overlap_is_over(api: Api) -> None:
    _, successor = roll_key(find_key(api.key), timedelta(hours=24))
    assert [ping(f"Bearer {key}").status_code for key in (api.key, successor)] == [200, 200]

    old = ApiKey.objects.filter(id=find_key(api.key).id)
    old.update(expires_at=clock.now() - timedelta(seconds=1))

    assert code_for(f"Bearer {api.key}") == "key_revoked"
    assert ping(f"Bearer {successor}").status_code == 200


def test_the_successor_of_a_rolled_key_sees_the_same_objects(api: Api) -> None:
    charge = api.charge()
    _, successor = roll_key(find_key(api.key), timedelta(hours=24))
    assert Api(successor).read(charge) == charge


@pytest.mark.long
@every(CALLS)
def test_every_call_needs_a_key(api: Api, call: Call) -> None:
    path, body = call.prepare(api)
    response = call.make(api, path, body, Authorization="")
    assert (response.status_code, error_of(response)["code"]) == (401, "key_missing")


@pytest.mark.long
@every(CALLS)
def test_a_publishable_key_may_only_make_and_read_sources(api: Api, browser: Api, call: Call) -> None:
    path, body = call.prepare(api)
    response = call.make(browser, path, body)
    if call in (CALLS["create a source"], CALLS["read a source"]):
        assert response.status_code == call.status
    else:
        error = error_of(response)
        assert (response.status_code, error["type"], error["code"]) == (403, "permission_error", "secret_key_required")
        assert faults_in(response.json(), ERROR) == []


def test_a_source_made_in_a_browser_is_charged_with_the_secret_key(api: Api, browser: Api) -> None:
    assert api.charge_source(browser.source())["status"] == "succeeded"


def test_a_source_made_in_a_browser_has_the_mode_of_the_key(browser: Api) -> None:
    assert browser.post("/sources/", CARD_SOURCE).json()["livemode"] is False


@pytest.mark.parametrize("name", ["pk_test", "pk_live"])
def test_a_publishable_key_reads_the_sources_of_its_merchant_and_mode_alone(
    api: Api, shop: NewMerchant, other_shop: NewMerchant, name: str
) -> None:
    path = f"/sources/{api.source()}"
    own, other = Api(shop.keys[name]).get(path), Api(other_shop.keys[name]).get(path)
    assert (own.status_code, other.status_code) == (200 if name == "pk_test" else 404, 404)


def test_a_source_made_twice_in_a_browser_under_one_key_is_one(browser: Api) -> None:
    first, second = (browser.post("/sources/", CARD_SOURCE, "form 5") for _ in range(2))
    assert (first.content, second["Idempotent-Replayed"]) == (second.content, "true")
