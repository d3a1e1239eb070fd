"""Whatever refuses a request at a checkout's path, its clients can read why."""

import json
from collections.abc import Callable

import pytest
from django.http import HttpResponse
from pytest_django import Settings

from payments.domain.merchants.merchants import NewMerchant
from tests.checkout.cast import ORDER
from tests.client import Api

pytestmark = pytest.mark.django_db

INVALID = "invalid_request_error"
BODY = json.dumps(ORDER).encode()
Refused = Callable[[Api, str], HttpResponse]


def as_xml(api: Api, path: str) -> HttpResponse:
    return api.client.post(f"/v2{path}", b"<a/>", content_type="text/xml", headers=api.headers())


def by_strange_host(api: Api, path: str) -> HttpResponse:
    return api.send("POST", path, ORDER, {"Host": "shop.example"})


ROWS: dict[str, tuple[int, str, Refused]] = {
    "invalid_json": (400, INVALID, lambda api, path: api.post(path, b"{")),
    "body_too_large": (413, INVALID, lambda api, path: api.post(path, BODY.ljust(65_537))),
    "unsupported_media_type": (415, INVALID, as_xml),
    "key_missing": (401, "authentication_error", lambda api, path: api.send("POST", path, {}, {"Authorization": ""})),
    "key_invalid": (401, "authentication_error", lambda _, path: Api("sk_test_nobody").get(path)),
    "method_not_allowed": (405, INVALID, lambda api, path: api.delete(path)),
    "host_not_allowed": (400, INVALID, by_strange_host),
    "resource_missing": (404, "not_found", lambda api, path: api.get(f"{path}/a/b/c")),
    "missing": (400, INVALID, lambda api, path: api.post(path)),
    "unknown_parameter": (400, INVALID, lambda api, path: api.get(path, colour="red")),
}


@pytest.mark.long
@pytest.mark.parametrize("path", ["/checkout_sessions", "/payment_links", "/payment_requests"])
@pytest.mark.parametrize("code", ROWS)
def test_every_refusal_has_its_message_on_top(api: Api, path: str, code: str) -> None:
    status, kind, refused = ROWS[code]
    response = refused(api, path)
    body = json.loads(response.content)
    error = body["error"]
    assert (response.status_code, error["type"], error["code"]) == (status, kind, code)
    assert body["message"] == error["message"]


def test_a_publishable_key_may_do_none_of_it(shop: NewMerchant) -> None:
    response = Api(shop.keys["pk_test"]).post("/checkout_sessions", ORDER)
    body = json.loads(response.content)
    assert (response.status_code, body["error"]["code"]) == (403, "secret_key_required")
    assert body["message"] == body["error"]["message"]


def test_so_has_that_of_a_key_that_asks_too_often(api: Api, settings: Settings) -> None:
    settings.RATE_LIMIT = "1/year"
    api.get("/checkout_sessions")
    response = api.get("/checkout_sessions")
    assert (response.status_code, "message" in json.loads(response.content)) == (429, True)
