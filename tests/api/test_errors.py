"""Whatever goes wrong, the client gets the one envelope, and nothing in it that it must not see."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse

from payments.api.responses import near_paths
from tests.api.failing_routes import SECRET
from tests.client import Api, error_of

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

pytestmark = pytest.mark.urls("tests.api.failing_routes")


@pytest.fixture(autouse=True, scope="module")
def _near_paths_of_the_service() -> Iterator[None]:
    """Forget the paths that were looked up among these routes, for other files in this process."""
    yield
    near_paths._templates.cache_clear()


def fail(api: Api, failure: str) -> HttpResponse:
    return api.get(f"/fail/{failure}")


@pytest.mark.parametrize(
    ("failure", "status", "kind", "code"),
    [
        ("bug", 500, "api_error", "internal_error"),
        ("http404", 404, "not_found_error", "resource_missing"),
        ("not_found", 404, "not_found_error", "resource_missing"),
        ("permission", 403, "permission_error", "secret_key_required"),
        ("django_permission", 403, "permission_error", "secret_key_required"),
        ("unauthenticated", 401, "authentication_error", "key_missing"),
        ("bad_key", 401, "authentication_error", "key_invalid"),
        ("revoked", 401, "authentication_error", "key_revoked"),
        ("media_type", 415, "invalid_request_error", "unsupported_media_type"),
        ("throttled", 429, "rate_limit_error", "rate_limited"),
        ("parse", 400, "invalid_request_error", "invalid_json"),
        ("suspicious", 400, "invalid_request_error", "invalid_json"),
        ("validation", 422, "validation_error", "pattern"),
        ("conflict", 409, "invalid_request_error", "resource_busy"),
        ("domain", 422, "validation_error", "source_type_unavailable"),
        ("lock", 409, "invalid_request_error", "resource_busy"),
        ("database", 503, "api_error", "internal_error"),
        ("own", 503, "api_error", "provider_unavailable"),
    ],
)
def test_every_failure_has_its_status_type_and_code(api: Api, failure: str, status: int, kind: str, code: str) -> None:
    response = fail(api, failure)
    error = error_of(response)
    assert (response.status_code, error["type"], error["code"]) == (status, kind, code)
    assert response["Content-Type"] == "application/json"
    assert error["message"]
    assert error["doc_url"].startswith(f"{settings.PUBLIC_URL}/docs#")
    assert error["request_id"] == response["Request-Id"]


@pytest.mark.parametrize("failure", ["bug", "database", "http404", "not_found", "many"])
def test_no_answer_shows_what_an_exception_said(api: Api, failure: str) -> None:
    assert SECRET not in fail(api, failure).content.decode()


@pytest.mark.parametrize("failure", ["unauthenticated", "bad_key"])
def test_a_401_says_how_to_authenticate(api: Api, failure: str) -> None:
    assert fail(api, failure)["WWW-Authenticate"] == 'Basic realm="kaha"'


@pytest.mark.parametrize(("method", "part"), [("GET", "query"), ("POST", "body")])
def test_a_422_of_the_domain_has_the_same_form(api: Api, method: str, part: str) -> None:
    body = api.send(method, "/fail/domain", None, {}).json()
    assert (body["error"]["param"], body["error"]["errors"]) == ("card.type", {"card.type": ["Not in this mode."]})
    fault = {"loc": [part, "card", "type"], "msg": "Not in this mode.", "type": "source_type_unavailable"}
    assert body["detail"] == [fault]


def test_a_conflict_names_its_charge_and_when_to_try_again(api: Api) -> None:
    response = fail(api, "conflict")
    error = error_of(response)
    assert (error["charge_id"], error["param"], response["Retry-After"]) == ("ch_1", "amount", "1")


@pytest.mark.parametrize(("failure", "seconds"), [("throttled", "3"), ("own", "7")])
def test_retry_after_is_in_whole_seconds(api: Api, failure: str, seconds: str) -> None:
    assert fail(api, failure)["Retry-After"] == seconds


def test_a_flood_of_faults_is_cut_off(api: Api) -> None:
    body = fail(api, "many").json()
    assert len(body["detail"]) == 100
    assert all(len(fault["loc"][1]) <= 100 for fault in body["detail"])


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_a_wrong_method_gets_the_allowed_ones(api: Api, method: str) -> None:
    response = api.send(method, "/fail/bug", None, {})
    assert (response.status_code, error_of(response)["code"]) == (405, "method_not_allowed")
    assert response["Allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v2", 404, "resource_missing"),
        ("/v2/", 404, "resource_missing"),
        ("/v2/nowhere", 404, "resource_missing"),
        ("/v2/bug/", 500, "internal_error"),
        ("/v2/suspicious/", 400, "invalid_json"),
    ],
)
def test_below_v2_errors_outside_of_views_have_the_envelope_too(api: Api, path: str, status: int, code: str) -> None:
    response = api.client.get(path)
    error = error_of(response)
    assert (response.status_code, error["code"], error["request_id"]) == (status, code, response["Request-Id"])
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize(("path", "status"), [("/page/", 404), ("/page/bug/", 500), ("/page/suspicious/", 400)])
def test_elsewhere_errors_are_pages_for_browsers(api: Api, path: str, status: int) -> None:
    response = api.client.get(path, headers={"Accept": BROWSER})
    assert (response.status_code, response["Content-Type"]) == (status, "text/html; charset=utf-8")
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize(("path", "status"), [("/page/", 404), ("/page/bug/", 500), ("/page/suspicious/", 400)])
@pytest.mark.parametrize("accept", ["application/json", "*/*", ""])
def test_elsewhere_errors_are_json_for_programs(api: Api, path: str, status: int, accept: str) -> None:
    response = api.client.get(path, headers={"Accept": accept} if accept else {})
    assert (response.status_code, error_of(response)["request_id"]) == (status, response["Request-Id"])
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize(("path", "leads_back"), [("/admin/bug/", True), ("/page/bug/", False)])
def test_the_page_of_a_failure_has_the_request_s_id_and_leads_back_to_the_office(
    api: Api, path: str, leads_back: bool
) -> None:
    response = api.client.get(path, headers={"Accept": BROWSER})
    text = response.content.decode()
    assert f"<code>{response['Request-Id']}</code>" in text
    assert ('<a href="/admin/">' in text.partition("<main")[2]) == leads_back


def test_an_outage_is_a_page_that_says_that_nothing_is_lost(api: Api) -> None:
    response = api.client.get("/page/outage/", headers={"Accept": BROWSER})
    assert (response.status_code, response["Retry-After"]) == (503, "1")
    assert "Nothing is lost." in response.content.decode()


def test_a_payer_is_asked_in_an_outage_not_to_pay_twice(api: Api) -> None:
    response = api.client.get("/page/payer/", headers={"Accept": BROWSER, "Accept-Language": "fil"})
    assert (response.status_code, response["Retry-After"], response["Cache-Control"]) == (503, "1", "no-store")
    assert "Huwag munang magbayad ulit" in response.content.decode()


@pytest.mark.urls("config.urls")
@pytest.mark.parametrize(("method", "path"), [("POST", "/v2/sources/"), ("GET", "/v2/sources/src_1")])
@pytest.mark.parametrize("authorized", [True, False])
def test_browsers_anywhere_may_make_and_read_sources(api: Api, method: str, path: str, authorized: bool) -> None:
    headers = {"Origin": "https://shop.example"} | (api.headers() if authorized else {})
    response = api.client.generic(method, path, headers=headers)
    assert response["Access-Control-Allow-Origin"] == "*"
    exposed = "Request-Id, Idempotent-Replayed, RateLimit, RateLimit-Policy, Retry-After"
    assert response["Access-Control-Expose-Headers"] == exposed
    assert "Access-Control-Allow-Credentials" not in response


@pytest.mark.urls("config.urls")
@pytest.mark.parametrize("origin", [{}, {"Origin": ""}, {"Origin": "https://shop.example"}])
def test_an_answer_about_sources_says_that_it_depends_on_the_origin(api: Api, origin: dict[str, str]) -> None:
    assert api.client.get("/v2/sources/src_1", headers=api.headers() | origin)["Vary"] == "origin"


def preflight(api: Api, path: str) -> HttpResponse:
    asked: dict[str, Any] = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
    return api.client.options(path, headers=asked)


@pytest.mark.urls("config.urls")
@pytest.mark.parametrize("path", ["/v2/sources", "/v2/sources/", "/v2/sources/src_1", "/v2/sources/src_1/"])
def test_a_preflight_for_sources_is_answered(api: Api, path: str) -> None:
    response = preflight(api, path)
    assert response["Access-Control-Allow-Methods"] == "GET, POST"
    assert response["Access-Control-Allow-Headers"] == "authorization, content-type, idempotency-key, x-idempotency-key"


@pytest.mark.urls("config.urls")
@pytest.mark.parametrize(
    "path", ["/v2/charges/", "/v2/customers/cus_1/sources", "/v2/customers/cus_1/sources/src_1", "/v2/me", "/ping"]
)
def test_nothing_else_answers_other_origins(api: Api, path: str) -> None:
    assert "Access-Control-Allow-Origin" not in preflight(api, path)
    response = api.client.get(path, headers=api.headers() | {"Origin": "https://shop.example"})
    assert "Access-Control-Allow-Origin" not in response
