"""Bodies and their media types, and what a browser may read."""

import json
from typing import Any

import pytest
from django.http import HttpResponse

from tests.client import Api, error_of
from tests.contract.bodies import each
from tests.contract.calls import CALLS, Call
from tests.contract.shapes import ERROR, faults_in

CREATE_SOURCE = CALLS["create a source"]
ORIGIN = {"Origin": "https://shop.example"}
DEEP_ENOUGH = {"x": {"x": {"x": {"x": {"x": {"x": {"x": {"x": {"x": {}}}}}}}}}}


def send(api: Api, call: Call, path: str, body: bytes, content_type: str = "application/json") -> HttpResponse:
    headers: Any = api.headers()
    return api.client.generic(call.method, f"/v2{path}", body, content_type=content_type, headers=headers)


def refuse(response: HttpResponse, status: int, code: str) -> None:
    assert (response.status_code, error_of(response)["code"]) == (status, code)
    assert faults_in(response.json(), ERROR) == []


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
    refuse(send(api, CREATE_SOURCE, "/sources/", value), 400, "invalid_json")


def test_a_body_may_nest_to_ten(api: Api) -> None:
    assert send(api, CREATE_SOURCE, "/sources/", json.dumps(DEEP_ENOUGH).encode()).status_code == 422


@pytest.mark.parametrize("content_type", ["text/plain", "multipart/form-data", "application/xml", "nonsense", ""])
def test_another_media_type_is_refused(api: Api, content_type: str) -> None:
    refuse(send(api, CREATE_SOURCE, "/sources/", b'{"type":"gcash"}', content_type), 415, "unsupported_media_type")


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_may_be_announced_in_other_words(api: Api, content_type: str) -> None:
    assert send(api, CREATE_SOURCE, "/sources/", b'{"type":"gcash"}', content_type).status_code == 200


def test_a_browser_may_read_why_its_source_was_refused(browser: Api) -> None:
    response = browser.post("/sources/", {"type": "paypal"}, **ORIGIN)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (422, "*")
