"""What stands before the API in a web process stands before `/mcp` too, and refuses in the words of the protocol."""

import json

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.mcp.assistant import Assistant
from tests.web.clients import CHUNKED, answer_on, ask, connect, head, length
from tests.web.conftest import Serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
ACCEPT = b"Accept: application/json, text/event-stream\r\n"


def test_a_key_is_looked_up_before_its_body_is_waited_for_and_its_rate_is_counted(
    serve: Serve, shop: NewMerchant
) -> None:
    port, key = serve(REQUEST_BODY_SECONDS="600", RATE_LIMIT="1/year"), Assistant(shop.merchant).text
    for other in ("", "ak_test_" + "0" * 48, shop.keys["sk_test"]):
        with connect(port) as connection:
            connection.sendall(head("POST /mcp", ACCEPT, CHUNKED, key=other))
            answer, content = answer_on(connection)
            refused = json.loads(content)
            assert (answer.status, refused["jsonrpc"], refused["id"]) == (401, "2.0", None)
            assert refused["error"]["data"]["type"] == "authentication_error"
    with connect(port) as connection:
        connection.sendall(head("POST /mcp", ACCEPT, CHUNKED, key=key))
        connection.settimeout(1)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(60)
        connection.sendall(f"{len(PING):x}\r\n".encode() + PING + b"\r\n0\r\n\r\n")
        answer, content = answer_on(connection)
        assert (answer.status, json.loads(content)["id"]) == (200, 1)
    answer, content = ask(port, head("POST /mcp", ACCEPT, length(PING), key=key) + PING)
    assert (answer.status, json.loads(content)["error"]["data"]["code"]) == (429, "rate_limited")
    assert int(answer.headers["Retry-After"]) > 0
