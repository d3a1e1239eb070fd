"""Requests that are ready run in turns by caller."""

from contextlib import ExitStack

import pytest

from tests.web.busy import Busy
from tests.web.clients import ATTACKER, answer_on, ask, head, open_sockets, status_of
from tests.web.conftest import ServeBusy
from tests.web.waiting_app import PAGES

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

BURST = 40


@pytest.fixture(scope="module")
def server(serve_busy: ServeBusy) -> Busy:
    """Return a server that runs twelve requests at once."""
    return serve_busy(WEB_THREADS="200", DATABASE_CONNECTIONS="12")


@pytest.fixture
def port(server: Busy) -> int:
    """Return the port of the server, which has forgotten how many ran at once."""
    ask(server.port, head("GET /most"))
    return server.port


def test_of_a_burst_of_one_caller_a_fourth_as_many_run_at_once_as_there_are_connections(port: int) -> None:
    with open_sockets(port, BURST, head("GET /running")) as connections:
        assert all(connection.recv(1) for connection in connections)
    assert ask(port, head("GET /most"))[1] == b"3"


@pytest.mark.parametrize("page", PAGES)
def test_of_a_crowd_few_pages_are_made_at_once(port: int, page: str) -> None:
    with ExitStack() as crowd:
        answers = [
            crowd.enter_context(open_sockets(port, 5, head(f"GET {page}"), f"127.0.1.{number}"))
            for number in range(1, 9)
        ]
        assert all(connection.recv(1) for of_one in answers for connection in of_one)
    assert ask(port, head("GET /most"))[1] == b"2"


def test_of_pages_of_merchants_one_process_of_a_host_makes_one(port: int, serve_busy: ServeBusy) -> None:
    other, page = serve_busy().port, head("GET /merchant/running")
    with open_sockets(port, 5, page) as here, open_sockets(other, 5, page) as there:
        assert {answer_on(connection)[1] for connection in [*here, *there]} == {b"True"}


def test_a_request_that_waits_lets_others_of_its_caller_run(server: Busy) -> None:
    with server.held(), open_sockets(server.port, BURST, head("GET /waiting")):
        assert status_of(server.port, head("GET /running"), ATTACKER) == 200


def test_what_a_page_leaves_is_collected_at_once(port: int) -> None:
    before = left(port)
    for page in PAGES:
        assert status_of(port, head(f"GET {page}")) == 200
    assert left(port) <= before


def left(port: int) -> int:
    return int(ask(port, head("GET /left"))[1])
