"""A refused request does not use its idempotency key up: the key may be sent again with what is right."""

from typing import Any

import pytest
from pytest_django import Settings

from tests.charging.doubles import Unreachable, provider
from tests.client import Api, made
from tests.contract.calls import CALLS, CARD_SOURCE, CUSTOMER, faults_of, order
from tests.contract.transport.test_idempotency import KEY

REFUSED: dict[str, tuple[int, str, Any]] = {
    "not found": (404, "/charges/", order("src_1")),
    "no such charge": (404, "/charges/ch_1/capture", None),
    "no such path": (404, "/nowhere", CARD_SOURCE),
    "bad body": (422, "/sources/", {"type": "nonsense"}),
    "unknown member": (422, "/customers/", CUSTOMER | {"age": 5}),
    "bad JSON": (400, "/sources/", b"{"),
}


@pytest.mark.parametrize("refused", REFUSED)
def test_a_refused_request_does_not_use_its_key_up(api: Api, refused: str) -> None:
    status, path, body = REFUSED[refused]
    assert api.post(path, body, KEY).status_code == status
    response = api.post("/sources/", CARD_SOURCE, KEY)
    assert response.status_code == 200
    assert "Idempotent-Replayed" not in response


def test_a_source_that_cannot_be_held_does_not_use_the_key_up(api: Api) -> None:
    body = order(api.wallet(), capture=False)
    assert faults_of(api.post("/charges/", body, KEY)).keys() == {"capture"}
    assert api.post("/charges/", body | {"capture": True}, KEY).status_code == 201


def test_an_unavailable_type_does_not_use_the_key_up(live_api: Api) -> None:
    assert faults_of(live_api.post("/sources/", {"type": "gcash"}, KEY)) == {"type": "source_type_unavailable"}
    assert live_api.post("/customers/", CUSTOMER, KEY).status_code == 201


def test_a_wrong_confirmation_does_not_use_the_key_up(api: Api) -> None:
    path, body = CALLS["verify"].prepare(api)
    assert api.post(path, body | {"confirmation_id": "12345"}, KEY).status_code == 422
    assert made(api.post(path, body, KEY))["status"] == "succeeded"


def test_a_request_without_a_valid_key_does_not_use_the_key_up(api: Api) -> None:
    assert api.post("/sources/", CARD_SOURCE, KEY, Authorization="").status_code == 401
    assert api.post("/sources/", CARD_SOURCE | {"metadata": {"a": 1}}, KEY).status_code == 200


def test_a_request_that_wants_a_secret_key_does_not_use_the_key_up(api: Api, browser: Api) -> None:
    assert browser.post("/customers/", CUSTOMER, KEY).status_code == 403
    assert api.post("/sources/", CARD_SOURCE, KEY).status_code == 200


def test_a_body_of_another_media_type_does_not_use_the_key_up(api: Api) -> None:
    headers = api.headers() | {"Idempotency-Key": KEY}
    assert api.client.post("/v2/sources/", "type=gcash", content_type="text/plain", headers=headers).status_code == 415
    assert api.post("/sources/", CARD_SOURCE, KEY).status_code == 200


def test_a_request_beyond_the_rate_does_not_use_the_key_up(api: Api, settings: Settings) -> None:
    settings.RATE_LIMIT = "1/year"
    api.get("/ping")
    assert api.post("/sources/", CARD_SOURCE, KEY).status_code == 429
    settings.RATE_LIMIT = "1000/year"
    assert api.post("/customers/", CUSTOMER, KEY).status_code == 201


def test_an_operation_that_could_not_be_sent_does_not_use_the_key_up(api: Api) -> None:
    path = f"/charges/{api.held()['id']}/capture"
    with provider(Unreachable()):
        assert api.post(path, None, KEY).status_code == 503
    assert made(api.post(path, None, KEY))["captured"] is True
