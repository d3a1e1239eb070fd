"""Bytes that are no proper request, sent to the real web server."""

import socket
from contextlib import suppress

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api
from tests.web.conftest import Serve
from tests.web.conftest import shared_serve as shared_serve  # a fixture

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

PATIENCE_SECONDS = 60
LENGTHS = [b"", b"x", b"-1", b"+2", b"1.0", b"2, 2", b"0x2", b"9" * 20, b"9" * 4301]
HEAD = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
GARBAGE = [
    *(b"GET\r\n\r\n", b"GET /v2/me\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\r\n\r\n"),
    *(b"\x00" * 100 + b"\r\n\r\n", b"\xff\r\n\r\n"),
    b"GET /v2/charges/\x00" + HEAD + b"\r\n",
    b"GET /v2/charges/\xff" + HEAD + b"\r\n",
    b"GET /v2/charges/?limit=\xff" + HEAD + b"\r\n",
    b"GET http://evil.example/v2/me" + HEAD + b"\r\n",
    b"OPTIONS *" + HEAD + b"\r\n",
    b"CONNECT 127.0.0.1:1" + HEAD + b"\r\n",
    b"A" * 5000 + b" /v2/me" + HEAD + b"\r\n",
    b"GET /" + b"a" * 100_000 + HEAD + b"\r\n",
    b"GET /admin/r/" + b"0/" * 30_000 + b"0" + HEAD + b"\r\n",
    b"GET /v2/me" + HEAD + b"Authorization: Basic \xe9\r\n\r\n",
    b"GET /v2/me" + HEAD + b"A: b\x00c\r\n\r\n",
    b"GET /v2/me" + HEAD + b"A : b\r\n\r\n",
    b"GET /v2/me" + HEAD + b"A: b\r\n folded\r\n\r\n",
    b"GET /v2/me" + HEAD + b"A: b\r\n" * 2000 + b"\r\n",
    b"POST /v2/sources/" + HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    b"POST /v2/sources/" + HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v2/sources/" + HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}",
    *(b"POST /v2/sources/" + HEAD + b"Content-Length: " + length + b"\r\n\r\n{}" for length in LENGTHS),
]


@pytest.fixture(scope="module")
def port(shared_serve: Serve) -> int:
    return shared_serve()


def status_of(port: int, request: bytes) -> int | None:
    """Return the status of the answer; None where the connection is closed without one."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        # The server may refuse a request and close before it has read all of it.
        with suppress(ConnectionError):
            connection.sendall(request)
        try:
            line = connection.recv(65_536).split(b"\r\n")[0]
        except ConnectionError:
            return None
    return int(line.split()[1]) if line else None


def test_no_bytes_make_the_server_fail(port: int) -> None:
    statuses = {request: status_of(port, request) for request in GARBAGE}
    assert {request[:80]: status for request, status in statuses.items() if (status or 0) >= 500} == {}
    assert status_of(port, b"GET /ping" + HEAD + b"\r\n") == 200


def test_the_server_refuses_a_length_that_is_no_number(port: int) -> None:
    statuses = {
        status_of(port, b"POST /v2/sources/" + HEAD + b"Content-Length: " + length + b"\r\n\r\n{}")
        for length in LENGTHS
    }
    assert statuses == {400}


@pytest.mark.parametrize("sent", [b"", b"zz\r\n{}"], ids=ascii)
def test_a_connection_that_breaks_off_refunds_nothing(port: int, shop: NewMerchant, sent: bytes) -> None:
    api = Api(shop.keys["sk_test"])
    charge = api.charge()
    authorization = f"Authorization: Bearer {api.key}\r\n".encode()
    head = f"POST /v2/charges/{charge['id']}/refund".encode() + HEAD + authorization
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + sent)
        connection.shutdown(socket.SHUT_WR)
        assert b" 400 " in connection.recv(65_536).split(b"\r\n")[0]
    assert api.read(charge) == charge
