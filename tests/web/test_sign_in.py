"""The sign-in while passwords of others are hashed."""

import select
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.web.busy import Busy, busy_server
from tests.web.clients import PATIENCE_SECONDS, answer_on, connect, head, length, status_of

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

TOKEN = "t" * 32
# More than wait for a hash, each from an address of its own.
CROWD = 24
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[Busy]:
    target = "tests.web.stalled_sign_in:application"
    with (
        django_db_blocker.unblock(),
        busy_server(tmp_path_factory.mktemp("web"), target=target, HTTPS="0", WEB_THREADS="50") as busy,
    ):
        yield busy


def guess(site: str, number: int) -> bytes:
    """Return the request of somebody who tries to sign in."""
    body = urlencode({"login": f"person{number}", "password": "a wrong one", "csrfmiddlewaretoken": TOKEN}).encode()
    headers = f"Cookie: csrftoken={TOKEN}\r\n".encode() + FORM + length(body)
    return head(f"POST /{site}/login/", headers).replace(b"Content-Type: application/json\r\n", b"") + body


@pytest.mark.parametrize("site", ["merchant", "admin"])
def test_the_page_is_answered_while_every_place_for_a_hash_is_taken(server: Busy, site: str) -> None:
    with ExitStack() as crowd:
        connections = [crowd.enter_context(connect(server.port, f"127.0.2.{number + 1}")) for number in range(CROWD)]
        with server.held():
            for number, connection in enumerate(connections):
                connection.sendall(guess(site, number))
            assert status_of(server.port, head(f"GET /{site}/login/"), "127.0.2.200") == 200
            refused, *_ = select.select(connections, [], [], PATIENCE_SECONDS)
            answer, _body = answer_on(refused[0], "POST")
            assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
        # What they leave is counted before the tables are emptied.
        for connection in connections:
            if connection is not refused[0]:
                answer_on(connection, "POST")
