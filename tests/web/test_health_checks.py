"""Health checks."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from payments.embedded.folders import PROJECT
from payments.embedded.processes import wait_until
from tests.client import Api
from tests.support.postgres import Postgres, own_postgres
from tests.web.clients import PATIENCE_SECONDS, answer_on, answered, ask, connect, head, length, open_sockets
from tests.web.conftest import Serve, ServeWithPid

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

THREADS = 10
HANGS = (503, "PostgreSQL does not answer")
BUSY = {"workers": 1, "WEB_THREADS": str(THREADS), "target": "tests.web.waiting_app:application"}
WAITING = "/waiting"


def charge_of(api: Api) -> bytes:
    """Return a request that charges a new source."""
    order = {"amount": 10_000, "currency": "PHP", "source": api.source(), "description": "Halo-halo"}
    body = json.dumps(order).encode()
    return head("POST /v2/charges/", length(body), key=api.key) + body


def watched(port: int, name: str) -> tuple[int, str]:
    response, text = ask(port, head(f"GET /{name}"))
    return response.status, text.decode()


@contextmanager
def busy_threads(port: int) -> Iterator[None]:
    """Occupy every thread with a slow request."""
    with open_sockets(port, THREADS, head(f"GET {WAITING}")):
        assert wait_until(lambda: watched(port, "ready") == (503, "every thread is taken"), PATIENCE_SECONDS)
        yield


def test_a_process_takes_no_request_before_its_first_probe_of_the_database(serve: Serve) -> None:
    port = serve(workers=2)
    assert {watched(port, "ready") for _ in range(50)} == {(200, "healthy")}


def test_ping_is_answered_while_every_thread_is_taken_and_ready_says_so(serve: Serve) -> None:
    port = serve(**BUSY)
    assert watched(port, "ready") == (200, "healthy")
    with busy_threads(port):
        for path in ("ping", "ping/"):
            assert watched(port, path) == (200, "healthy")


@contextmanager
def waiting(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Send this many requests, each from its own address."""
    with ExitStack() as stack:
        opened = [
            stack.enter_context(open_sockets(port, 1, head("GET /v2/ping"), f"127.0.1.{n}")) for n in range(count)
        ]
        yield [connection for connections in opened for connection in connections]


def test_beyond_the_requests_that_wait_for_a_thread_others_are_refused_at_once(serve: Serve) -> None:
    port = serve(**BUSY)
    with busy_threads(port), waiting(port, THREADS + 1) as connections:
        assert wait_until(lambda: bool(answered(connections)), PATIENCE_SECONDS)
        [(response, content)] = [answer_on(connection) for connection in answered(connections)]
        assert (response.status, response.headers["Retry-After"]) == (503, "1")
        assert json.loads(content)["error"]["code"] == "server_busy"


def test_a_client_that_leaves_while_its_request_waits_makes_room(serve: Serve) -> None:
    port = serve(**BUSY)
    with busy_threads(port):
        with waiting(port, THREADS + 1) as connections:
            assert wait_until(lambda: bool(answered(connections)), PATIENCE_SECONDS)

        def waits() -> bool:
            with connect(port) as connection:
                connection.sendall(head("GET /v2/ping"))
                return not wait_until(lambda: bool(answered([connection])), 0.5)

        assert wait_until(waits, PATIENCE_SECONDS)


def test_one_caller_holds_no_more_room_than_is_left_for_others(serve: Serve) -> None:
    port = serve(**BUSY)
    with busy_threads(port), waiting(port, 1) as others, open_sockets(port, 1, head("GET /v2/ping")) as own:
        assert wait_until(lambda: bool(answered(own)), PATIENCE_SECONDS)
        assert answer_on(own[0])[0].status == 503
        assert not answered(others)


def test_requests_under_way_finish_when_the_server_stops(serve_with_pid: ServeWithPid, api: Api) -> None:
    port, pid = serve_with_pid(workers=1, WEB_THREADS="10", SIMULATOR_LATENCY_SECONDS="3")
    with connect(port) as connection:
        connection.sendall(charge_of(api))
        [charge] = wait_for_charge(api)
        os.kill(pid, signal.SIGTERM)
        assert wait_until(lambda: is_refused(port), PATIENCE_SECONDS)
        response, content = answer_on(connection)
    assert (response.status, json.loads(content)["status"]) == (201, "succeeded")
    assert json.loads(content)["id"] == charge["id"]


def wait_for_charge(api: Api) -> list[dict[str, str]]:
    """Return the merchant's only charge, as soon as there is one."""
    assert wait_until(lambda: bool(api.get("/charges/").json()["data"]), PATIENCE_SECONDS)
    return list(api.get("/charges/").json()["data"])


def is_refused(port: int) -> bool:
    try:
        connect(port).close()
    except ConnectionRefusedError:
        return True
    return False


@dataclass(frozen=True)
class OwnDatabase:
    """A database on a separate PostgreSQL."""

    server: Postgres
    name: str

    @property
    def url(self) -> str:
        return self.server.url(self.name)

    def execute(self, *statements: str) -> None:
        self.server.execute(*statements, database=self.name)


@pytest.fixture(scope="module")
def own_server() -> Iterator[Postgres]:
    """Yield a separate PostgreSQL, whose database has kaha's tables and is only copied."""
    with own_postgres() as server:
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(migrate, check=True, env=os.environ | {"DATABASE_URL": server.url()}, cwd=PROJECT)
        yield server


@pytest.fixture
def own_database(own_server: Postgres) -> Iterator[OwnDatabase]:
    """Yield a database of one test, with kaha's tables, on a separate PostgreSQL."""
    name = f"copy_{uuid4().hex[:8]}"
    own_server.execute(f"CREATE DATABASE {name} TEMPLATE kaha", database="postgres")
    try:
        yield OwnDatabase(own_server, name)
    finally:
        own_server.thaw()
        # What a test has set may hold for this session until it has read the file again.
        writable = "SET default_transaction_read_only = off"
        drop = f"DROP DATABASE {name} WITH (FORCE)"
        own_server.execute(writable, "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()", drop, database="postgres")


def test_ready_fails_while_postgresql_hangs_and_ping_does_not(serve: Serve, own_database: OwnDatabase) -> None:
    port = serve(workers=1, DATABASE_URL=own_database.url)
    assert watched(port, "ready")[0] == 200
    own_database.server.freeze()
    assert wait_until(lambda: watched(port, "ready") == HANGS, PATIENCE_SECONDS)
    assert ask(port, head("GET /ready"))[0].headers["Retry-After"] == "1"
    assert watched(port, "ping") == (200, "healthy")
    own_database.server.thaw()
    assert wait_until(lambda: watched(port, "ready")[0] == 200, PATIENCE_SECONDS)


MONTH = f"{datetime.now(UTC):%Y_%m}"
READ_ONLY = ("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (READ_ONLY, "PostgreSQL takes no writes"),
        (["DELETE FROM django_migrations WHERE app = 'customers'"], "migrations are not applied; run migrate"),
        ([f"DROP TABLE payments_event_{MONTH}"], "no table for this month; start a worker or run migrate"),
        (
            [
                "INSERT INTO payments_datakey (id, purpose, kek, wrapped, created_at)"
                " VALUES (gen_random_uuid(), 'card', 'local:gone', 'x', now())"
            ],
            "the vault cannot open its data keys; run the doctor",
        ),
    ],
)
def test_ready_says_what_keeps_a_process_from_serving(
    serve: Serve, own_database: OwnDatabase, statements: Sequence[str], expected: str
) -> None:
    port = serve(workers=1, DATABASE_URL=own_database.url)
    own_database.execute(*statements)

    def says() -> bool:
        status, text = watched(port, "ready")
        return (status, text) == (503, expected)

    assert wait_until(says, PATIENCE_SECONDS), watched(port, "ready")
    assert watched(port, "ping") == (200, "healthy")


def test_without_redis_a_process_is_ready_and_says_so(serve: Serve) -> None:
    port = serve(workers=1, REDIS_URL="redis://127.0.0.1:1/0")
    assert watched(port, "ready") == (200, "degraded: Redis does not answer")
