"""Who may let time pass, and how it is asked for."""

from typing import Any

import pytest
from pytest_django import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Charge, IdempotencyRecord
from tests.client import Api, error_of, made
from tests.clock.cast import DAY, WEEK
from tests.contract.calls import faults_of

PATH = "/test/clock"
A_DAY = {"advance_seconds": 86_400}


def refusal(api: Api, path: str, method: str = "POST") -> dict[str, Any]:
    """Return the error of a 404, without the request's ID."""
    response = api.send(method, path, A_DAY, {})
    assert response.status_code == 404
    error = error_of(response)
    del error["request_id"]
    return error


@pytest.mark.parametrize("key", ["sk_live", "pk_live"])
def test_in_live_mode_there_is_no_clock_and_the_answer_says_so(shop: NewMerchant, key: str) -> None:
    error = refusal(Api(shop.keys[key]), PATH)
    assert (error["code"], "Use a test key" in error["message"]) == ("resource_missing", True)


@pytest.mark.parametrize("key", ["sk_test", "sk_live", "pk_test", "nobody's"])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_where_the_clock_is_off_there_is_nothing_at_this_path(
    shop: NewMerchant, settings: Settings, key: str, method: str
) -> None:
    settings.KAHA_CLOCK = False
    api = Api(shop.keys.get(key, key))
    assert refusal(api, PATH, method) == refusal(api, "/test/nothing", method)


@pytest.mark.parametrize("seconds", [0, -1, 31_622_401, True, "86400", 1.0, None])
def test_how_much_time_is_an_integer_from_a_second_to_a_year(api: Api, seconds: object) -> None:
    assert set(faults_of(api.post(PATH, {"advance_seconds": seconds}))) == {"advance_seconds"}


@pytest.mark.parametrize("seconds", [1, 31_622_400])
def test_a_second_and_a_year_are_within_bounds(api: Api, seconds: int) -> None:
    assert made(api.post(PATH, {"advance_seconds": seconds}))["advanced_seconds"] == seconds


def test_a_repeat_under_the_same_key_does_not_let_time_pass_twice(api: Api) -> None:
    held = api.held()
    body = {"advance_seconds": int((WEEK - DAY).total_seconds())}

    first, second = (api.post(PATH, body, key="six days") for _ in range(2))

    assert second["Idempotent-Replayed"] == "true"
    assert first.content == second.content
    assert api.read(held)["authorized"] is True


def test_a_refused_request_lets_no_time_pass(api: Api) -> None:
    api.held()
    expires_at = Charge.objects.get().hold_expires_at

    assert api.post(PATH, {"advance_seconds": 1, "merchant": "mer_1"}, key="mistyped").status_code == 422

    assert Charge.objects.get().hold_expires_at == expires_at
    assert not IdempotencyRecord.objects.filter(key="mistyped").exists()


def test_keys_and_the_answers_of_other_requests_are_as_old_as_they_were(api: Api) -> None:
    held = api.held()
    captured = api.post(f"/charges/{held['id']}/capture", key="capture it")

    made(api.post(PATH, {"advance_seconds": 31_622_400}))

    again = api.post(f"/charges/{held['id']}/capture", key="capture it")
    assert (again["Idempotent-Replayed"], again.content) == ("true", captured.content)
