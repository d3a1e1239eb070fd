"""Every call, on every form of its path: what it takes and refuses, by whom it may be called, under which name."""

import json
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import resolve
from pytest_django.fixtures import Settings

from tests.client import Api, error_of
from tests.contract.calls import BROWSERS_MAY, CALLS, GETS, POSTS, Call, Requests, every, faults_of
from tests.contract.shapes import faults_in, id_of
from tests.contract.transport.test_errors import ORIGIN, refuse, send
from tests.test_host_and_https import ELSEWHERE


def ask(api: Api, asked: Requests, call: Call, ending: str) -> HttpResponse:
    path, body = asked[call]
    return call.make(api, path + ending, body)


@pytest.mark.long
@every(CALLS)
@pytest.mark.parametrize("slash", ["", "/"], ids=["bare", "slash"])
def test_a_call_succeeds_with_and_without_its_trailing_slash(api: Api, asked: Requests, call: Call, slash: str) -> None:
    response = ask(api, asked, call, slash)
    assert response.status_code == call.status, response.content
    assert response["Content-Type"] == "application/json"
    assert faults_in(response["Request-Id"], id_of("req")) == []
    assert faults_in(json.loads(response.content), call.shape) == []


@every(CALLS)
def test_an_unknown_query_parameter_is_refused(api: Api, asked: Requests, call: Call) -> None:
    response = ask(api, asked, call, "?limti=5")
    assert faults_of(response) == {"limti": "unknown_parameter"}
    assert json.loads(response.content)["detail"][0]["loc"] == ["query", "limti"]


@pytest.mark.long
@every(CALLS)
def test_expand_is_accepted_everywhere(api: Api, asked: Requests, call: Call) -> None:
    assert ask(api, asked, call, "?expand=source&expand=refunds&expand[]=owner").status_code == call.status


@pytest.mark.long
@every(GETS)
def test_expand_changes_nothing(api: Api, asked: Requests, call: Call) -> None:
    path, _ = asked[call]
    assert api.get(f"{path}?expand=source").content == api.get(path).content


@every(GETS)
def test_head_is_get_without_a_body(api: Api, asked: Requests, call: Call) -> None:
    path, _ = asked[call]
    response = api.send("HEAD", path, None, {})
    assert (response.status_code, response.content) == (200, b"")


@every(POSTS)
def test_a_post_with_an_unknown_member_is_refused(api: Api, asked: Requests, call: Call) -> None:
    path, body = asked[call]
    assert faults_of(api.post(path, (body or {}) | {"captur": False})) == {"captur": "unknown_parameter"}


@every(CALLS)
def test_a_405_names_exactly_the_methods_of_its_path(api: Api, asked: Requests, call: Call) -> None:
    methods: dict[str, set[str]] = {}
    for each, (path, _) in asked.items():
        methods.setdefault(resolve(f"/v2{path}").view_name, set()).add(each.method)
    path, _ = asked[call]
    response = api.send("PATCH", path, None, {})
    assert (response.status_code, error_of(response)["code"]) == (405, "method_not_allowed")
    assert {*response["Allow"].split(", ")} - {"HEAD"} == methods[resolve(f"/v2{path}").view_name]


WRITING = {name: call for name, call in CALLS.items() if call.method != "GET"}
BODILESS = {name: CALLS[name] for name in ("void", "delete a customer", "detach")}


@pytest.mark.long
@every(WRITING)
def test_a_body_that_is_no_json_is_refused_everywhere(api: Api, asked: Requests, call: Call) -> None:
    refuse(send(api, call, asked[call][0], b"[1"), 400, "invalid_json")


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


@every(CALLS)
def test_no_call_is_answered_under_another_name(api: Api, asked: Requests, call: Call) -> None:
    path, body = asked[call]
    response = call.make(api, path, body, **ELSEWHERE)
    error = error_of(response)
    assert (response.status_code, error["code"]) == (400, "host_not_allowed")
    assert "'evil.example'" in error["message"]
    assert "ALLOWED_HOSTS" in error["message"]


@every(CALLS)
def test_no_call_is_answered_in_clear_text(api: Api, asked: Requests, call: Call, settings: Settings) -> None:
    path, body = asked[call]
    settings.HTTPS = True
    response = call.make(api, path, body)
    assert (response.status_code, error_of(response)["code"]) == (403, "https_required")


@pytest.mark.long
@every(CALLS)
def test_no_cache_keeps_an_answer(api: Api, asked: Requests, call: Call) -> None:
    path, body = asked[call]
    assert call.make(api, path, body)["Cache-Control"] == "no-store"
