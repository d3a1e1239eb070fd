"""Bodies and their media types on every call that takes one, and who may call from a browser."""

from typing import Any

import pytest

from tests.client import Api
from tests.contract.call import Call, every
from tests.contract.calls import BROWSERS_MAY, CALLS
from tests.contract.every_call.conftest import Requests
from tests.contract.shapes import faults_in, id_of
from tests.contract.transport.test_transport import ORIGIN, refuse, send

WRITING = {name: call for name, call in CALLS.items() if call.method != "GET"}
BODILESS = {name: CALLS[name] for name in ("void", "delete a customer", "detach")}


@pytest.mark.long
@every(WRITING)
def test_a_body_that_is_no_object_is_refused_everywhere(api: Api, asked: Requests, call: Call) -> None:
    refuse(send(api, call, asked[call][0], b"[1]"), 400, "invalid_json")


@every(WRITING)
def test_a_form_is_refused_everywhere(api: Api, asked: Requests, call: Call) -> None:
    refuse(
        send(api, call, asked[call][0], b"type=gcash", "application/x-www-form-urlencoded"),
        415,
        "unsupported_media_type",
    )


@every(BODILESS)
@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "nonsense", ""])
def test_an_empty_body_counts_as_an_object_whatever_its_type(
    api: Api, asked: Requests, call: Call, content_type: str
) -> None:
    assert send(api, call, asked[call][0], b"", content_type).status_code == call.status


@every(BODILESS)
def test_an_empty_object_is_no_body_either(api: Api, asked: Requests, call: Call) -> None:
    assert send(api, call, asked[call][0], b"{}").status_code == call.status


@every(WRITING)
def test_a_body_has_at_most_64_kib_and_with_a_file_3_mib(api: Api, asked: Requests, call: Call) -> None:
    most = 3 * 1024 * 1024 if call is CALLS["add evidence"] else 65_536
    refuse(send(api, call, asked[call][0], b"{}".ljust(most + 1)), 413, "body_too_large")


@every(BODILESS)
def test_a_body_of_64_kib_is_read(api: Api, asked: Requests, call: Call) -> None:
    assert send(api, call, asked[call][0], b"{}".ljust(65_536)).status_code == call.status


@pytest.mark.long
@every(CALLS)
def test_only_the_two_calls_for_sources_answer_other_origins(api: Api, asked: Requests, call: Call) -> None:
    path, body = asked[call]
    response = call.make(api, path, body, **ORIGIN)
    assert ("Access-Control-Allow-Origin" in response) == (call in [CALLS[name] for name in BROWSERS_MAY])


@pytest.mark.long
@every(CALLS)
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_browser_asks_first_and_without_a_key(api: Api, asked: Requests, call: Call, slash: str) -> None:
    path, _ = asked[call]
    asking: Any = ORIGIN | {
        "Access-Control-Request-Method": call.method,
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    response = api.client.options(f"/v2{path}{slash}", headers=asking)
    is_allowed = call in [CALLS[name] for name in BROWSERS_MAY]
    assert ("Access-Control-Allow-Origin" in response) == is_allowed
    assert faults_in(response["Request-Id"], id_of("req")) == []
    if is_allowed:
        assert response.status_code == 200
        assert call.method in response["Access-Control-Allow-Methods"]
        assert "authorization" in response["Access-Control-Allow-Headers"]
