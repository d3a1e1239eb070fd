"""Requests that wait for events hold no thread, and a crowd of merchants that wait takes nothing from the others."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse

import pytest

from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.embedded.processes import wait_until
from tests.client import Api
from tests.web.busy import THREADS, Busy
from tests.web.clients import PATIENCE_SECONDS, answer_on, answered, ask, connect, head
from tests.web.conftest import ServeBusy

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# Half as many as there are threads.
WAITING = THREADS // 2
CROWD = 12
WAIT = "GET /v2/events/?wait=30"


@pytest.fixture(scope="module")
def server(serve_busy: ServeBusy) -> Busy:
    return serve_busy()


@pytest.fixture
def port(server: Busy) -> int:
    """Return the port of a server with few threads, on which nothing waits."""
    server.wait_until_idle()
    return server.port


class Crowd:
    """A connection of each shop, from an address of its own, which waits for its first event."""

    def __init__(self, port: int, shops: list[NewMerchant], stack: ExitStack) -> None:
        self.requests = {
            stack.enter_context(connect(port, f"127.0.1.{number}")): head(WAIT, key=shop.keys["sk_test"])
            for number, shop in enumerate(shops, 1)
        }
        self.refused: dict[socket.socket, tuple[HTTPResponse, bytes]] = {}
        for connection, request in self.requests.items():
            connection.sendall(request)

    def are_refused(self, count: int) -> bool:
        """Return whether `count` are refused by now. Who met no free thread asks again, as its answer says."""
        for connection in answered([*self.requests]):
            response, body = answer_on(connection)
            if response.status == 503:
                connection.sendall(self.requests[connection])
            else:
                self.refused[connection] = (response, body)
        return len(self.refused) == count


@contextmanager
def waiting(port: int, shops: list[NewMerchant]) -> Iterator[Crowd]:
    with ExitStack() as stack:
        yield Crowd(port, shops, stack)


def test_a_crowd_of_merchants_that_wait_leaves_the_process_to_others(port: int, api: Api) -> None:
    with waiting(port, [create_merchant(f"Shop {number}") for number in range(CROWD)]) as crowd:
        assert wait_until(lambda: crowd.are_refused(CROWD - WAITING), PATIENCE_SECONDS)
        assert ask(port, head("GET /ready"))[0].status == 200
        assert ask(port, head("GET /v2/charges/", key=api.key))[0].status == 200
        assert not answered([*crowd.requests])
    for response, body in crowd.refused.values():
        assert (response.status, json.loads(body)["error"]["code"]) == (429, "rate_limited")
        assert response.headers["Retry-After"] == "5"


def test_a_request_that_waits_is_answered_with_what_came(port: int, shop: NewMerchant, api: Api) -> None:
    with waiting(port, [shop]) as crowd:
        api.wallet()
        [connection] = crowd.requests
        response, body = answer_on(connection)
    assert (response.status, len(json.loads(body)["data"])) == (200, 1)
    assert response.headers["Content-Length"] == str(len(body))


def test_a_client_that_leaves_frees_its_place(port: int, shop: NewMerchant) -> None:
    again = head("GET /v2/events/?wait=1", key=shop.keys["sk_test"])
    with waiting(port, [create_merchant(f"Shop {number}") for number in range(WAITING + 1)]) as crowd:
        assert wait_until(lambda: crowd.are_refused(1), PATIENCE_SECONDS)
        assert ask(port, again)[0].status == 429
        next(connection for connection in crowd.requests if connection not in crowd.refused).close()
        assert wait_until(lambda: ask(port, again)[0].status == 200, PATIENCE_SECONDS)
