"""Every call succeeds on every form of its path, and refuses what it does not know."""

import json

import pytest
from django.http import HttpResponse

from tests.client import Api, error_of
from tests.contract.call import Call, every
from tests.contract.calls import CALLS, GETS, POSTS, faults_of
from tests.contract.every_call.conftest import Requests
from tests.contract.shapes import faults_in, id_of


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


@pytest.mark.long
@every(CALLS)
def test_a_method_that_nothing_answers_is_405_everywhere(api: Api, asked: Requests, call: Call) -> None:
    path, _ = asked[call]
    for method in ("PATCH", "OPTIONS", "TRACE"):
        response = api.send(method, path, None, {})
        assert (response.status_code, error_of(response)["code"]) == (405, "method_not_allowed")
        assert call.method in response["Allow"].split(", ")
