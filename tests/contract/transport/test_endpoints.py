"""Every row of the table of endpoints: it succeeds as documented, on every form of its path."""

from typing import Any

import pytest
from django.test import Client
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve
from pytest_django import Settings

from payments.api.urls import ApiResolver
from tests.client import Api, error_of
from tests.contract.calls import CALLS
from tests.contract.shapes import ERROR, faults_in, id_of


def routes(patterns: list[URLPattern | URLResolver]) -> set[tuple[str, str]]:
    """Return the method and name of everything that views of resources answer below these patterns."""
    found: set[tuple[str, str]] = set()
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            found |= routes(pattern.url_patterns)
        else:
            found |= {(method.upper(), str(pattern.name)) for method in getattr(pattern.callback, "actions", {})}
    return found


@pytest.mark.long
def test_the_table_names_every_call_that_is_routed(api: Api) -> None:
    asked = {(call.method, resolve(f"/v2{call.prepare(api)[0]}").view_name) for call in CALLS.values()}
    v2 = [part for part in get_resolver().url_patterns if str(part.pattern) == "v2/"]
    # HEAD is bound along with GET.
    assert {(method, name) for method, name in routes(v2) if method != "HEAD"} == asked


@pytest.mark.parametrize(
    "path",
    ["charges", "charges/", "charges/ch_1/refund", "customers/by_email/a@b.c/", "test/clock", "ping", "test", "pings"],
)
def test_a_path_leads_where_all_patterns_would_lead_it(path: str) -> None:
    [api] = [part for part in get_resolver().url_patterns if isinstance(part, ApiResolver)]

    def found(resolver: URLResolver) -> Any:
        try:
            match = resolver.resolve(f"v2/{path}")
        except Resolver404:
            return None
        return match.func, match.kwargs, match.route, match.url_name

    assert found(api) == found(URLResolver(api.pattern, api.url_patterns))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/ping",
        "/ready",
        "/docs",
        "/docs/guides",
        "/v2/openapi.json",
        "/v2/ping",
        "/v2/nowhere",
        "/admin/login/",
        "/nowhere",
    ],
)
def test_trace_is_405_on_pages_and_where_there_is_nothing_too(path: str) -> None:
    response = Client().trace(path)
    assert (response.status_code, error_of(response)["code"]) == (405, "method_not_allowed")
    assert response["Allow"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    [
        *("/", "/ping", "/docs", "/docs/guides", "/cli/kaha.whl", "/components/index.html", "/sdk/kaha.js"),
        *("/checkout/x", "/requests/x", "/links/x", "/pay/x", "/return/x", "/simulator/pay/x", "/transparency"),
        *("/admin/", "/admin/login/", "/merchant/", "/merchant/login/"),
    ],
)
def test_a_name_twice_in_an_address_is_refused_by_every_page(path: str) -> None:
    for html in ("text/html", "application/json"):
        answer = Client(headers={"Accept": html}).get(f"{path}?key=1&%6bey=2")
        assert (answer.status_code, "twice" in answer.content.decode()) == (400, html == "text/html")


@pytest.mark.parametrize("path", ["/charges/", "/charges/ch_1", "/me", "/health", "/openapi.json"])
def test_a_name_twice_in_an_address_is_refused_by_the_api(api: Api, path: str) -> None:
    refused = api.get(f"{path}?limit=1&limit=2")
    assert (refused.status_code, refused.json()["detail"][0]["type"]) == (422, "repeated_parameter")


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/nowhere", "/charge", "/Charges/", "/charges/ch_1/capture/twice", "/charges/ch_1/nothing"),
        *("/sources/src_1/card", "/events/evt_1/resend", "/me/too", "/charges//"),
    ],
)
def test_an_unknown_path_is_a_404_in_the_envelope(api: Api, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        response = api.send(method, path, None, {})
        assert (response.status_code, error_of(response)["code"]) == (404, "resource_missing")
        assert faults_in(response.json(), ERROR) == []


@pytest.mark.parametrize("path", ["/ping", "/ping/"])
def test_the_plain_ping_needs_no_key(api: Api, path: str) -> None:
    response = api.client.get(path)
    assert (response.status_code, response.content) == (200, b"healthy")


@pytest.mark.parametrize("path", ["/ping", "/nowhere", "/admin/login/", "/v2/nowhere", "/v2/me", "/v2/charges/"])
def test_every_response_carries_an_id_of_its_own(api: Api, path: str) -> None:
    ids = {api.client.generic(method, path)["Request-Id"] for method in ("GET", "POST", "OPTIONS")}
    assert len(ids) == 3
    assert [faults_in(request_id, id_of("req")) for request_id in ids] == [[]] * 3


@pytest.mark.parametrize(
    ("path", "status"), [("/v2/charges", 401), ("/v2/charges/", 401), ("/v2/no", 404), ("/ping", 405)]
)
def test_no_path_sends_a_program_elsewhere_though_pages_are_for_https(
    db: None, settings: Settings, path: str, status: int
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    # A handler of its own, for the setting is read as the middleware is loaded.
    assert Client().post(path).status_code == status
    assert Client().get("/admin/").status_code == 301
