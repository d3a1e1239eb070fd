"""Connections to a PostgreSQL that does not answer."""

import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import InterfaceError, OperationalError
from psycopg import Connection

from payments.db.backend.base import DatabaseWrapper
from payments.db.backend.bounded_connection import NotAnswering
from payments.embedded.processes import wait_until
from payments.quickstart.ports import HOST
from tests.db_outages.conftest import LONG_SECONDS, STATEMENT_SECONDS, Server

pytestmark = pytest.mark.long


@pytest.fixture
def ours(server: Server) -> Iterator[DatabaseWrapper]:
    connection = server.connection()
    yield connection
    server.thaw()
    assert wait_until(lambda: connection.is_answering, LONG_SECONDS)
    connection.close()
    connection.close_pool()


def ask(connection: DatabaseWrapper) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return int(cursor.fetchone()[0])


def lost(connection: DatabaseWrapper) -> None:
    """Wait until a statement has had no answer."""
    with pytest.raises(OperationalError) as raised:
        ask(connection)
    assert isinstance(raised.value.__cause__, NotAnswering)


def test_a_statement_that_gets_no_answer_ends(server: Server, ours: DatabaseWrapper) -> None:
    assert ask(ours) == 1
    server.freeze()
    lost(ours)


def test_a_transaction_that_gets_no_answer_ends_and_the_next_one_is_asked_anew(
    server: Server, ours: DatabaseWrapper
) -> None:
    assert ask(ours) == 1
    ours.close()
    ours.ensure_connection()
    server.freeze()
    lost(ours)
    ours.close()
    server.thaw()
    assert wait_until(lambda: ours.is_answering, LONG_SECONDS)
    assert ask(ours) == 1


def test_once_it_is_known_not_to_answer_nothing_is_asked_of_it(server: Server, ours: DatabaseWrapper) -> None:
    ask(ours)
    server.freeze()
    lost(ours)
    ours.close()
    sockets = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        with pytest.raises(OperationalError, match="does not answer"):
            ours.ensure_connection()
    # One more is the probe's.
    assert len(list(Path("/proc/self/fd").iterdir())) <= sockets + 1
    assert not ours.is_answering


def test_a_server_that_takes_no_connection_does_not_answer(server: Server, ours: DatabaseWrapper) -> None:
    server.freeze()
    with pytest.raises(OperationalError):
        ours.ensure_connection()
    assert not ours.is_answering


def test_a_server_that_refuses_a_connection_answers(server: Server) -> None:
    outsider = server.connection(PASSWORD="wrong")
    with pytest.raises(OperationalError):
        outsider.ensure_connection()
    assert outsider.is_answering


def test_a_waiting_thread_gets_a_connection_when_one_is_given_up(server: Server, ours: DatabaseWrapper) -> None:
    others = [server.connection() for _ in range(6)]
    ask(ours)
    ours.close()
    server.freeze()

    def end(connection: DatabaseWrapper) -> bool:
        try:
            return bool(ask(connection))
        except (OperationalError, InterfaceError):
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(len(others)) as threads:
        for other in others:
            other.inc_thread_sharing()
        assert list(threads.map(end, others)) == [False] * len(others)
    server.thaw()
    assert wait_until(lambda: ours.is_answering, LONG_SECONDS)
    # None of the two turns was lost.
    assert ask(others[0]) == ask(others[1]) == 1
    for other in others:
        other.close()


def test_a_statement_that_the_server_may_take_long_over_is_waited_for(server: Server, ours: DatabaseWrapper) -> None:
    ours.ensure_connection()
    ours.connection.answer_seconds = None
    with ours.cursor() as cursor:
        cursor.execute(f"SET statement_timeout = 0; SELECT pg_sleep({STATEMENT_SECONDS + 4})")
    ours.close()
    ours.ensure_connection()
    assert ours.connection.answer_seconds is not None


def test_the_server_itself_ends_a_statement_before_its_answer_is_given_up(ours: DatabaseWrapper) -> None:
    with pytest.raises(OperationalError, match="statement timeout"), ours.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(60)")
    assert ours.is_answering


def test_tcp_gives_up_a_host_that_is_gone(server: Server) -> None:
    remote = server.connection(HOST=HOST)
    remote.ensure_connection()
    raw: Connection = remote.connection
    with socket.socket(fileno=os.dup(raw.fileno())) as ours:
        assert ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 6_000
        assert ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 3
    remote.close()
    remote.close_pool()
