"""For how long a process waits for the rest of a request."""

import json
import socket
import time

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.web.clients import CHUNKED, answer_on, connect, head, is_closed
from tests.web.conftest import Serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

DEADLINE_SECONDS = 1


@pytest.fixture(scope="module")
def port(shared_serve: Serve) -> int:
    """Return a server that waits for a second."""
    return shared_serve(header_milliseconds=DEADLINE_SECONDS * 1000, REQUEST_BODY_SECONDS=str(DEADLINE_SECONDS))


def test_headers_have_a_deadline(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(b"POST /v2/sources/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX")
        assert is_closed(connection)


def test_a_body_that_trickles_is_answered_408_at_the_deadline(port: int, shop: NewMerchant) -> None:
    with connect(port) as connection:
        started = time.monotonic()
        connection.sendall(head("POST /v2/customers/", CHUNKED, key=shop.keys["sk_test"]))
        connection.settimeout(0.1)
        while time.monotonic() - started < 30:
            connection.sendall(b"1\r\n \r\n")
            try:
                first = connection.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                continue
            break
        response, content = answer_on(connection)
        assert first
        assert (response.status, json.loads(content)["error"]["code"]) == (408, "request_timeout")
        assert response.headers["Connection"] == "close"
        assert time.monotonic() - started >= DEADLINE_SECONDS
