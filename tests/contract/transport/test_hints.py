"""What a program of another service asks for is answered with what to use instead."""

import pytest

from payments.api.access import product_paths
from tests.client import Api, error_of
from tests.openapi.conftest import Document

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v2/invoices", "/v2/payment_requests"),
        ("/v1/links", "/v2/payment_links"),
        ("/v1/checkout/sessions", "/v2/checkout_sessions"),
    ],
)
def test_a_path_of_another_service_names_the_one_that_is_meant(api: Api, path: str, meant: str) -> None:
    answer = api.client.get(path, headers={"Authorization": f"Bearer {api.key}"})
    assert (answer.status_code, f"Did you mean {meant}" in error_of(answer)["message"]) == (404, True)


def test_a_type_of_event_of_another_service_names_ours(api: Api) -> None:
    endpoint = {"url": "https://shop.example/hook", "enabled_events": ["checkout.session.completed", "x", 5]}
    errors = error_of(api.post("/webhook_endpoints/", endpoint))["errors"]
    texts = [errors[f"enabled_events.{place}"][0] for place in range(3)]
    assert ["Did you mean checkout_session.completed?" in text for text in texts] == [True, False, False]


def test_a_list_that_goes_one_way_says_so(api: Api) -> None:
    assert "start_after" in error_of(api.get("/charges/", ending_before="ch_1"))["errors"]["ending_before"][0]


@pytest.mark.parametrize("path", ["/ping", "/v2/ping", "/v2/health"])
def test_an_unknown_method_is_refused_in_the_envelope(api: Api, path: str) -> None:
    answer = api.client.generic("QUERY", path, headers={"Authorization": f"Bearer {api.key}"})
    assert (answer.status_code, error_of(answer)["code"]) == (405, "method_not_allowed")
    assert "GET" in answer["Allow"]


@pytest.mark.parametrize("accept", ["*/*", "application/json", None])
def test_the_address_of_a_session_is_its_page_whatever_a_program_without_a_key_takes(accept: str | None) -> None:
    def led(path: str, **more: str) -> str:
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "HTTP_HOST": "testserver", **more}
        product_paths.lead(environ)
        return environ["PATH_INFO"]

    given, page = {"HTTP_ACCEPT": accept} if accept else {}, f"/checkout/cs_{'0' * 32}"
    assert led(page, **given) == page
    assert led(page, **given, HTTP_AUTHORIZATION="Basic").startswith("/v2/checkout_sessions/cs_")
    assert led("/checkout/", **given) == "/v2/checkout_sessions/"


def test_a_session_and_the_request_for_one_share_a_schema_for_each_choice() -> None:
    schemas = Document().content["components"]["schemas"]
    given, shown = (schemas[name]["properties"] for name in ("SessionInput", "CheckoutSession"))
    assert shown["mode"]["$ref"] == given["mode"]["anyOf"][0]["$ref"] == "#/components/schemas/SessionMode"
    assert set(schemas["SessionMode"]["enum"]) == {"payment", "setup", "subscription", "save_card"}
    assert [name for name in given.keys() & shown.keys() if "enum" in given[name] or "enum" in shown[name]] == []
