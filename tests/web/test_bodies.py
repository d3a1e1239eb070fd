"""Bodies that are waited for, long, whole or broken."""

import json
import socket

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api
from tests.web.clients import CHUNKED, answer_on, ask, connect, head, length, open_sockets, status_of
from tests.web.conftest import Serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

UNKNOWN_KEY = "sk_test_" + "0" * 48
# More than any test but that of the limit asks of its address.
LIMIT = 20


@pytest.fixture(scope="module")
def port(shared_serve: Serve) -> int:
    """Return a server that waits for bodies for longer than any test."""
    return shared_serve(REQUEST_BODY_SECONDS="600", RATE_LIMIT_ANONYMOUS=f"{LIMIT}/year")


@pytest.mark.parametrize("key", ["", "sesame", UNKNOWN_KEY], ids=["none", "malformed", "unknown"])
def test_without_a_known_key_no_body_is_waited_for(port: int, key: str) -> None:
    with connect(port) as connection:
        connection.sendall(head("POST /v2/charges/", CHUNKED, key=key))
        response, content = answer_on(connection)
        assert response.status == 401
        assert json.loads(content)["error"]["type"] == "authentication_error"


def test_outsiders_who_keep_coming_with_late_bodies_are_counted(port: int) -> None:
    with open_sockets(port, LIMIT + 1, head("POST /v2/charges/", CHUNKED)) as connections:
        assert sorted(answer_on(connection)[0].status for connection in connections) == [401] * LIMIT + [429]


def test_a_known_key_is_waited_for(port: int, shop: NewMerchant) -> None:
    with connect(port) as connection:
        connection.sendall(head("POST /v2/customers/", CHUNKED, key=shop.keys["sk_test"]) + b"2\r\n{}\r\n")
        connection.settimeout(1)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(60)
        connection.sendall(b"0\r\n\r\n")
        assert answer_on(connection)[0].status == 422


@pytest.mark.parametrize("sent", [b"2\r\n{}\r\n", b"2\r\n{}\r\nzz\r\n"], ids=ascii)
def test_a_whole_object_without_its_last_chunk_refunds_nothing(port: int, shop: NewMerchant, sent: bytes) -> None:
    api = Api(shop.keys["sk_test"])
    charge = api.charge()
    with connect(port) as connection:
        connection.sendall(head(f"POST /v2/charges/{charge['id']}/refund", CHUNKED, key=api.key) + sent)
        connection.shutdown(socket.SHUT_WR)
        assert answer_on(connection)[0].status == 400
    assert api.read(charge) == charge


def test_an_empty_body_in_chunks_that_is_whole_refunds_all(port: int, shop: NewMerchant) -> None:
    api = Api(shop.keys["sk_test"])
    charge = api.charge()
    sent = head(f"POST /v2/charges/{charge['id']}/refund", CHUNKED, key=api.key) + b"0\r\n\r\n"
    assert status_of(port, sent) == 200
    assert api.read(charge)["amount_refunded"] == charge["amount"]


@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize(("length_bytes", "status"), [(64 * 1024, 422), (64 * 1024 + 1, 413), (256 * 1024, 413)])
def test_a_body_may_be_64_kib_long(
    port: int, shop: NewMerchant, length_bytes: int, status: int, is_chunked: bool
) -> None:
    body = b"{}".ljust(length_bytes)
    framing = CHUNKED if is_chunked else length(body)
    framed = f"{length_bytes:x}\r\n".encode() + body + b"\r\n0\r\n\r\n" if is_chunked else body
    with connect(port) as connection:
        connection.sendall(head("POST /v2/customers/", framing, key=shop.keys["sk_test"]) + framed)
        assert answer_on(connection)[0].status == status


def test_a_body_after_100_continue_is_taken(port: int, shop: NewMerchant) -> None:
    with connect(port) as connection:
        connection.sendall(
            head("POST /v2/customers/", b"Expect: 100-continue\r\n", length(b"{}"), key=shop.keys["sk_test"])
        )
        assert connection.recv(65_536).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"{}")
        assert answer_on(connection)[0].status == 422


def test_requests_on_one_connection_are_answered_in_their_order(port: int, shop: NewMerchant) -> None:
    key, body = shop.keys["sk_test"], b"{}"
    requests = [
        head("GET /v2/ping", key=key),
        head("POST /v2/customers/", length(body), key=key) + body,
        head("GET /ping"),
        head("POST /v2/customers/", CHUNKED, key=key) + b"2\r\n{}\r\n0\r\n\r\n",
        head("GET /v2/charges/", key=key),
    ]
    with connect(port) as connection:
        connection.sendall(b"".join(requests))
        received = b""
        while received.count(b"HTTP/1.1 ") < len(requests):
            received += connection.recv(65_536)
        assert [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]] == [200, 422, 200, 422, 200]


def test_a_client_that_still_sends_a_refused_body_has_its_answer_and_the_connection(port: int) -> None:
    body = b" " * 4_000_000
    with connect(port) as connection:
        connection.sendall(head("POST /merchant/", length(body)) + body)
        refused = answer_on(connection)[0].status
        connection.sendall(head("GET /ping"))
        assert (refused, answer_on(connection)[0].status) == (403, 200)


def test_head_is_answered_like_get_without_the_body(port: int, shop: NewMerchant) -> None:
    port, key = port, shop.keys["sk_test"]
    for path in ("/v2/me", "/ping", "/static/admin/css/base.css"):
        got, whole = ask(port, head(f"GET {path}", key=key))
        headers, nothing = ask(port, head(f"HEAD {path}", key=key))
        assert (headers.status, headers.headers["Content-Length"], nothing) == (200, str(len(whole)), b"")
        assert got.status == 200
