"""By whom a web process divides its threads."""

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.web.bodies import key_error
from payments.web.environ import Environ
from payments.web.threads import Callers
from tests.mcp.assistant import Assistant

pytestmark = pytest.mark.django_db

PAYER, OUTSIDER = "127.0.0.7", "127.0.0.66"


def request_with(key: str, address: str, path: str = "/v2/charges/") -> Environ:
    return {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "REMOTE_ADDR": address,
        "HTTP_AUTHORIZATION": f"Bearer {key}",
        "wsgi.input": None,
    }


def learned(key: str, path: str = "/v2/charges/") -> Callers:
    """Return callers that have seen a request with `key` answered to the payer."""
    callers, request = Callers(), request_with(key, PAYER, path)
    assert key_error(request) is None
    callers.learn(request)
    return callers


def test_requests_with_a_secret_key_are_their_merchants_from_every_address(shop: NewMerchant) -> None:
    key = shop.keys["sk_test"]
    assert learned(key).caller_of(request_with(key, OUTSIDER)) == (shop.merchant.id, True)


def test_requests_of_an_assistant_are_its_merchants(shop: NewMerchant) -> None:
    key = Assistant(shop.merchant).text
    assert learned(key, "/mcp").caller_of(request_with(key, OUTSIDER, "/mcp")) == (shop.merchant.id, True)


def test_requests_with_a_publishable_key_are_their_addresss(shop: NewMerchant) -> None:
    key = shop.keys["pk_test"]
    assert learned(key).caller_of(request_with(key, OUTSIDER)) == (OUTSIDER, False)


def test_requests_with_a_key_that_has_not_worked_yet_are_their_addresss(shop: NewMerchant) -> None:
    assert Callers().caller_of(request_with(shop.keys["sk_test"], OUTSIDER)) == (OUTSIDER, False)
