"""Names of headers that WSGI would take for those of a proxy."""

import json
from ipaddress import ip_address

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.staff.models import SignInFailures
from payments.staff.sign_in.lockout import key_of
from tests.contract.calls import CUSTOMER
from tests.factories import ApiKeyFactory
from tests.web.clients import ask, head, length, status_of
from tests.web.conftest import Serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

INSIDE, OUTSIDE = "10.1.2.3", "198.51.100.7"
# More than any test but that of the limit asks of one address.
LIMIT = 40
LIMITED = "198.51.100.8"
NAMES = ["X_Forwarded_For", "X-Forwarded_For", "x_forwarded-for"]
JSON, FORM_TYPE = b"application/json", b"application/x-www-form-urlencoded"
FORM = b"login=ana&password=wrong"


@pytest.fixture(scope="module")
def proxied(shared_serve: Serve) -> int:
    """Return a server behind one proxy."""
    return shared_serve(TRUSTED_PROXIES="1", RATE_LIMIT_ANONYMOUS=f"{LIMIT}/year")


def forwarded(address: str, name: str = "X-Forwarded-For") -> bytes:
    return f"{name}: {address}\r\n".encode()


@pytest.mark.parametrize("name", NAMES)
def test_an_underscore_does_not_take_a_key_into_its_network(proxied: int, shop: NewMerchant, name: str) -> None:
    key = ApiKeyFactory(merchant=shop.merchant, networks=["10.0.0.0/8"]).text
    real, forged = forwarded(OUTSIDE), forwarded(INSIDE, name)
    assert status_of(proxied, head("GET /v2/ping", forwarded(INSIDE), key=key)) == 200
    for headers in ([forged], [real, forged], [forged, real]):
        assert status_of(proxied, head("GET /v2/ping", *headers, key=key)) == 401


def test_without_a_proxy_no_spelling_of_its_header_is_believed(port: int, shop: NewMerchant) -> None:
    key = ApiKeyFactory(merchant=shop.merchant, networks=["10.0.0.0/8"]).text
    for name in ["X-Forwarded-For", *NAMES]:
        assert status_of(port, head("GET /v2/ping", forwarded(INSIDE, name), key=key)) == 401


def test_an_underscore_does_not_pass_the_limit_of_outsiders(proxied: int) -> None:
    statuses = []
    for number in range(LIMIT):
        headers = forwarded(LIMITED), forwarded(str(ip_address(INSIDE) + number), NAMES[0])
        statuses += [status_of(proxied, head("GET /v2/me", *order)) for order in (headers, reversed(headers))]
    assert statuses == [401] * LIMIT + [429] * LIMIT


def test_an_underscore_names_no_other_address_to_the_lock_out(proxied: int) -> None:
    page, _ = ask(proxied, head("GET /admin/login/", forwarded(OUTSIDE)))
    token = page.headers["Set-Cookie"].split("csrftoken=")[1].split(";")[0]
    body = FORM + b"&csrfmiddlewaretoken=" + token.encode()
    cookie = f"Cookie: csrftoken={token}\r\n".encode()
    addresses = forwarded(OUTSIDE), forwarded(INSIDE, NAMES[0])
    for order in (addresses, reversed(addresses)):
        sent = head("POST /admin/login/", *order, cookie, length(body)).replace(JSON, FORM_TYPE)
        assert status_of(proxied, sent + body) == 200
    kept = {bytes(key) for key in SignInFailures.objects.values_list("key", flat=True)}
    assert kept == {key_of("name", "ana"), key_of("address", OUTSIDE)}


def test_two_lines_of_a_header_are_one_list(proxied: int, shop: NewMerchant) -> None:
    key = ApiKeyFactory(merchant=shop.merchant, networks=["10.0.0.0/8"]).text
    assert status_of(proxied, head("GET /v2/ping", forwarded(OUTSIDE), forwarded(INSIDE), key=key)) == 200
    assert status_of(proxied, head("GET /v2/ping", forwarded(INSIDE), forwarded(OUTSIDE), key=key)) == 401


@pytest.mark.parametrize(("second", "status"), [("order 5", 201), ("order 6", 422)])
def test_two_lines_of_an_idempotency_key_must_say_the_same(
    proxied: int, shop: NewMerchant, second: str, status: int
) -> None:
    body = json.dumps(CUSTOMER).encode()
    lines = [f"Idempotency-Key: {key}\r\n".encode() for key in ("order 5", second)]
    sent = head("POST /v2/customers/", *lines, length(body), key=shop.keys["sk_test"]) + body
    assert status_of(proxied, sent) == status


@pytest.mark.parametrize(
    "path", ["/", "/ping", "/ready", "/docs", "/v2/ping", "/v2/nowhere", "/admin/login/", "/nowhere"]
)
def test_trace_is_405_at_every_door(proxied: int, path: str) -> None:
    answer, body = ask(proxied, head(f"TRACE {path}"))
    assert (answer.status, json.loads(body)["error"]["code"]) == (405, "method_not_allowed")
    assert answer.headers["Allow"]
