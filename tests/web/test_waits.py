"""Requests that wait for events hold no thread, and a crowd of merchants that wait takes nothing from the others."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.quickstart.servers.processes import wait_until
from tests.client import Api
from tests.web.clients import PATIENCE_SECONDS, answer_on, answered, ask, connect, head
from tests.web.conftest import Serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

FEW = {"workers": 1, "WEB_THREADS": "10"}
# Half as many as there are threads.
WAITING = 5
CROWD = 12
WAIT = "GET /v2/events/?wait=30"


@contextmanager
def waiting(port: int, shops: list[NewMerchant]) -> Iterator[list[socket.socket]]:
    """Yield a connection of each shop, from an address of its own, which waits for its first event."""
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(port, f"127.0.1.{number}")) for number in range(1, len(shops) + 1)]
        for connection, shop in zip(connections, shops, strict=True):
            connection.sendall(head(WAIT, key=shop.keys["sk_test"]))
        yield connections


def test_a_crowd_of_merchants_that_wait_leaves_the_process_to_others(serve: Serve, api: Api) -> None:
    port = serve(**FEW)
    with waiting(port, [create_merchant(f"Shop {number}") for number in range(CROWD)]) as connections:
        assert wait_until(lambda: len(answered(connections)) == CROWD - WAITING, PATIENCE_SECONDS)
        assert ask(port, head("GET /ready"))[1] == b"healthy"
        assert ask(port, head("GET /v2/charges/", key=api.key))[0].status == 200
        refused = answered(connections)
        assert len(refused) == CROWD - WAITING
        for connection in refused:
            response, body = answer_on(connection)
            assert (response.status, json.loads(body)["error"]["code"]) == (429, "rate_limited")
            assert response.headers["Retry-After"] == "5"


def test_a_request_that_waits_is_answered_with_what_came(serve: Serve, shop: NewMerchant, api: Api) -> None:
    port = serve(**FEW)
    with waiting(port, [shop]) as [connection]:
        api.wallet()
        response, body = answer_on(connection)
    assert (response.status, len(json.loads(body)["data"])) == (200, 1)
    assert response.headers["Content-Length"] == str(len(body))


def test_a_client_that_leaves_frees_its_place(serve: Serve, shop: NewMerchant) -> None:
    port, again = serve(**FEW), head("GET /v2/events/?wait=1", key=shop.keys["sk_test"])
    with waiting(port, [create_merchant(f"Shop {number}") for number in range(WAITING + 1)]) as connections:
        assert wait_until(lambda: bool(answered(connections)), PATIENCE_SECONDS)
        assert ask(port, again)[0].status == 429
        left = next(connection for connection in connections if connection not in answered(connections))
        left.close()
        assert wait_until(lambda: ask(port, again)[0].status == 200, PATIENCE_SECONDS)
