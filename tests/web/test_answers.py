"""Answers in pieces, and files."""

import pytest

from payments.embedded.processes import wait_until
from tests.web.clients import PATIENCE_SECONDS, ask, head, open_sockets, status_of
from tests.web.conftest import Serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

THREADS = 10
PIECES = {"workers": 1, "WEB_THREADS": str(THREADS), "target": "tests.web.streaming_app:application"}


@pytest.fixture(scope="module")
def port(shared_serve: Serve) -> int:
    """Return a server of few threads that answers in pieces, too."""
    return shared_serve(**PIECES)


def test_an_answer_in_pieces_arrives_whole(port: int) -> None:
    _, body = ask(port, head("GET /pieces"))
    assert body == b"kaha" * 16_384 * 100


def test_an_answer_in_pieces_that_takes_the_last_thread_arrives_whole(port: int) -> None:
    with open_sockets(port, THREADS - 1, head("GET /endless")):
        bodies = [ask(port, head("GET /pieces"))[1] for _ in range(10)]
    assert [len(body) for body in bodies] == [len(b"kaha" * 16_384 * 100)] * 10


def test_a_client_that_leaves_in_the_middle_of_an_answer_frees_its_thread(port: int) -> None:
    with open_sockets(port, THREADS, head("GET /endless")):
        assert wait_until(lambda: status_of(port, head("GET /ready")) == 503, PATIENCE_SECONDS)
    assert wait_until(lambda: status_of(port, head("GET /ready")) == 200, PATIENCE_SECONDS)


def test_readers_who_do_not_read_a_file_keep_no_thread(port: int) -> None:
    path = "/static/rest_framework/css/bootstrap.min.css.map"
    _, whole = ask(port, head(f"GET {path}"))
    assert len(whole) > 500_000
    for sent in (head(f"GET {path}"), head(f"GET {path}", b"Range: bytes=0-\r\n")):
        with open_sockets(port, 3 * THREADS, sent) as connections:
            assert all(connection.recv(1) for connection in connections)
            assert wait_until(lambda: status_of(port, head("GET /ready")) == 200, PATIENCE_SECONDS)
