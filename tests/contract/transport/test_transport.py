"""Bodies and their media types on every call that takes one, and who may call from a browser."""

import json
from typing import Any

import pytest
from django.http import HttpResponse

from tests.client import Api, error_of
from tests.contract.bodies import each
from tests.contract.calls import BROWSERS_MAY, CALLS, Call
from tests.contract.shapes import ERROR, faults_in, id_of
from tests.contract.transport.test_endpoints import every

WRITING = {name: call for name, call in CALLS.items() if call.method != "GET"}
BODILESS = {name: CALLS[name] for name in ("void", "delete a customer", "detach")}
ORIGIN = {"Origin": "https://shop.example"}
DEEP_ENOUGH = {"x": {"x": {"x": {"x": {"x": {"x": {"x": {"x": {"x": {}}}}}}}}}}


def send(api: Api, call: Call, body: bytes, content_type: str = "application/json") -> HttpResponse:
    path, _ = call.prepare(api)
    headers: Any = api.headers()
    return api.client.generic(call.method, f"/v2{path}", body, content_type=content_type, headers=headers)


def refuse(response: HttpResponse, status: int, code: str) -> None:
    assert (response.status_code, error_of(response)["code"]) == (status, code)
    assert faults_in(response.json(), ERROR) == []


@every(WRITING)
def test_a_body_that_is_no_object_is_refused_everywhere(api: Api, call: Call) -> None:
    refuse(send(api, call, b"[1]"), 400, "invalid_json")


@each(
    [
        *(b"[1]", b"[{}]", b'"text"', b"null", b"true", b"5", b"{", b"{}{}", b"{} x", b"{'a':1}", b'{"a":1,}'),
        *(b'{"a":1,"a":2}', b'{"a":{"b":1,"b":1}}', b'{"a":1,"\\u0061":2}'),
        *(b'{"a":NaN}', b'{"a":Infinity}', b'{"a":-Infinity}', b'{"a":1e999}', b'{"a":%b}' % (b"9" * 500)),
        *(b'{"a":"\\u0000"}', b'{"a\\u0000":1}', b'{"a":"\\ud800"}', b'{"\\udfff":1}', b'{"a":"\n"}'),
        *(b'{"a":"\xff"}', '{"a":"é"}'.encode("latin-1"), '{"a":1}'.encode("utf-16")),
        *(json.dumps({"x": DEEP_ENOUGH}).encode(), b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}"),
    ]
)
def test_what_is_not_one_clear_json_object_is_invalid(api: Api, value: bytes) -> None:
    refuse(send(api, CALLS["create a source"], value), 400, "invalid_json")


def test_a_body_may_nest_to_ten(api: Api) -> None:
    assert send(api, CALLS["create a source"], json.dumps(DEEP_ENOUGH).encode()).status_code == 422


@every(WRITING)
def test_a_form_is_refused_everywhere(api: Api, call: Call) -> None:
    refuse(send(api, call, b"type=gcash", "application/x-www-form-urlencoded"), 415, "unsupported_media_type")


@pytest.mark.parametrize("content_type", ["text/plain", "multipart/form-data", "application/xml", "nonsense", ""])
def test_another_media_type_is_refused(api: Api, content_type: str) -> None:
    refuse(send(api, CALLS["create a source"], b'{"type":"gcash"}', content_type), 415, "unsupported_media_type")


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_may_be_announced_in_other_words(api: Api, content_type: str) -> None:
    assert send(api, CALLS["create a source"], b'{"type":"gcash"}', content_type).status_code == 200


@every(BODILESS)
@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "nonsense", ""])
def test_an_empty_body_counts_as_an_object_whatever_its_type(api: Api, call: Call, content_type: str) -> None:
    assert send(api, call, b"", content_type).status_code == call.status


@every(BODILESS)
def test_an_empty_object_is_no_body_either(api: Api, call: Call) -> None:
    assert send(api, call, b"{}").status_code == call.status


@every(WRITING)
def test_a_body_has_at_most_64_kib_and_with_a_file_3_mib(api: Api, call: Call) -> None:
    most = 3 * 1024 * 1024 if call is CALLS["add evidence"] else 65_536
    refuse(send(api, call, b"{}".ljust(most + 1)), 413, "body_too_large")


@every(BODILESS)
def test_a_body_of_64_kib_is_read(api: Api, call: Call) -> None:
    assert send(api, call, b"{}".ljust(65_536)).status_code == call.status


@every(CALLS)
def test_only_the_two_calls_for_sources_answer_other_origins(api: Api, call: Call) -> None:
    path, body = call.prepare(api)
    response = call.make(api, path, body, **ORIGIN)
    assert ("Access-Control-Allow-Origin" in response) == (call in [CALLS[name] for name in BROWSERS_MAY])


def test_a_browser_may_read_why_its_source_was_refused(browser: Api) -> None:
    response = browser.post("/sources/", {"type": "paypal"}, **ORIGIN)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (422, "*")


@pytest.mark.long
@every(CALLS)
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_browser_asks_first_and_without_a_key(api: Api, call: Call, slash: str) -> None:
    path, _ = call.prepare(api)
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
