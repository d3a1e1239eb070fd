"""Every call is answered under the service's own names and over https only, and no cache keeps what it says."""

import pytest
from pytest_django.fixtures import Settings

from tests.client import Api, error_of
from tests.contract.call import Call, every
from tests.contract.calls import CALLS
from tests.contract.every_call.conftest import Requests
from tests.test_host_and_https import ELSEWHERE


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
