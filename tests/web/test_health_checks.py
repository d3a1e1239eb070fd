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
from typing import Any

import pytest

from payments.embedded.folders import PROJECT
from payments.embedded.processes import wait_until
from tests.client import Api
from tests.support.postgres import Postgres, own_postgres
from tests.support.web import web_process
from tests.web.busy import THREADS, Busy, watched
from tests.web.clients import PATIENCE_SECONDS, answer_on, answered, ask, connect, head, length, open_sockets
from tests.web.conftest import Serve, ServeBusy, ServeWithPid

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

HEALTHY, HANGS = (200, "healthy"), "PostgreSQL does not answer"


def charge_of(api: Api) -> bytes:
    """Return a request that charges a new source."""
    order = {"amount": 10_000, "currency": "PHP", "source": api.source(), "description": "Halo-halo"}
    body = json.dumps(order).encode()
    return head("POST /v2/charges/", length(body), key=api.key) + body


@pytest.fixture(scope="module")
def busy(serve_busy: ServeBusy) -> Busy:
    """Return a server whose threads can be occupied."""
    return serve_busy()


def test_a_process_takes_no_request_before_its_first_probe_of_the_database(serve: Serve) -> None:
    port = serve()
    assert {watched(port, "ready") for _ in range(50)} == {HEALTHY}


def test_ping_is_answered_while_every_thread_is_taken_and_ready_says_so(busy: Busy) -> None:
    assert watched(busy.port, "ready")[0] == 200
    with busy.threads():
        for path in ("ping", "ping/"):
            assert watched(busy.port, path) == HEALTHY


@contextmanager
def waiting(port: int, count: int, path: str = "/v2/ping") -> Iterator[list[socket.socket]]:
    """Send this many requests, each from its own address."""
    with ExitStack() as stack:
        opened = [stack.enter_context(open_sockets(port, 1, head(f"GET {path}"), f"127.0.1.{n}")) for n in range(count)]
        yield [connection for connections in opened for connection in connections]


def test_beyond_the_requests_that_wait_for_a_thread_others_are_refused_at_once(busy: Busy) -> None:
    port = busy.port
    with busy.threads(), waiting(port, THREADS + 1) as connections:
        assert wait_until(lambda: bool(answered(connections)), PATIENCE_SECONDS)
        [(response, content)] = [answer_on(connection) for connection in answered(connections)]
        assert (response.status, response.headers["Retry-After"]) == (503, "1")
        assert json.loads(content)["error"]["code"] == "server_busy"


def test_a_client_that_leaves_while_its_request_waits_makes_room(busy: Busy) -> None:
    port = busy.port
    with busy.threads():
        with waiting(port, THREADS + 1) as connections:
            assert wait_until(lambda: bool(answered(connections)), PATIENCE_SECONDS)

        def waits() -> bool:
            with connect(port) as connection:
                connection.sendall(head("GET /v2/ping"))
                return not wait_until(lambda: bool(answered([connection])), 0.5)

        assert wait_until(waits, PATIENCE_SECONDS)


def test_one_caller_holds_no_more_room_than_is_left_for_others(busy: Busy) -> None:
    port = busy.port
    with busy.threads(), waiting(port, 1) as others, open_sockets(port, 1, head("GET /v2/ping")) as own:
        assert wait_until(lambda: bool(answered(own)), PATIENCE_SECONDS)
        assert answer_on(own[0])[0].status == 503
        assert not answered(others)


def test_a_crowd_of_payers_leaves_half_of_the_room_to_others(busy: Busy) -> None:
    busy.wait_until_idle()
    with ExitStack() as stack:
        with busy.held():
            payers = stack.enter_context(waiting(busy.port, 2 * THREADS, "/links/waiting"))
            assert wait_until(lambda: len(answered(payers)) == THREADS, PATIENCE_SECONDS)
            assert {answer_on(refused)[0].status for refused in answered(payers)} == {503}
            [own] = stack.enter_context(waiting(busy.port, 1))
        assert answer_on(own)[0].status == 401


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
    """A database on a separate PostgreSQL, and the port of a web server that has no other."""

    server: Postgres
    port: int

    def says(self, fault: str) -> bool:
        """Wait until `/ready` says this, or with "" that the process serves; return whether it does."""
        expected = (503, fault) if fault else 200
        return wait_until(lambda: expected in (ready := watched(self.port, "ready"), ready[0]), PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def own_database(tmp_path_factory: Any) -> Iterator[OwnDatabase]:
    """Yield a database with kaha's tables."""
    with own_postgres() as server:
        own = {"DATABASE_URL": server.url()}
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(migrate, check=True, env=os.environ | own, cwd=PROJECT)
        with web_process(tmp_path_factory.mktemp("web"), workers=1, **own) as (url, _):
            yield OwnDatabase(server, int(url.rpartition(":")[2]))


def test_ready_fails_while_postgresql_hangs_and_ping_does_not(own_database: OwnDatabase) -> None:
    port = own_database.port
    assert own_database.says("")
    own_database.server.freeze()
    try:
        assert own_database.says(HANGS)
        assert ask(port, head("GET /ready"))[0].headers["Retry-After"] == "1"
        assert watched(port, "ping") == HEALTHY
    finally:
        own_database.server.thaw()
    assert own_database.says("")


MONTH, OTHER_MONTH = f"payments_event_{datetime.now(UTC):%Y_%m}", "payments_event_1999_01"
RELOAD = "SELECT pg_reload_conf()"


# What is done to the database, and undone.
@pytest.mark.parametrize(
    ("done", "undone", "expected"),
    [
        (
            ["ALTER SYSTEM SET default_transaction_read_only = on", RELOAD],
            # It holds for this session, too, until it has read the file again.
            ["SET default_transaction_read_only = off", "ALTER SYSTEM RESET ALL", RELOAD],
            "PostgreSQL takes no writes",
        ),
        (
            ["UPDATE django_migrations SET app = 'others' WHERE app = 'customers'"],
            ["UPDATE django_migrations SET app = 'customers' WHERE app = 'others'"],
            "migrations are not applied; run migrate",
        ),
        (
            [f"ALTER TABLE {MONTH} RENAME TO {OTHER_MONTH}"],
            [f"ALTER TABLE {OTHER_MONTH} RENAME TO {MONTH}"],
            "no table for this month; start a worker or run migrate",
        ),
        (
            [
                "INSERT INTO payments_datakey (id, purpose, kek, wrapped, created_at)"
                " VALUES (gen_random_uuid(), 'card', 'local:gone', 'x', now())"
            ],
            ["DELETE FROM payments_datakey"],
            "the vault cannot open its data keys; run the doctor",
        ),
    ],
)
def test_ready_says_what_keeps_a_process_from_serving_until_it_is_gone(
    own_database: OwnDatabase, done: Sequence[str], undone: Sequence[str], expected: str
) -> None:
    assert own_database.says("")
    own_database.server.execute(*done)
    try:
        assert own_database.says(expected), watched(own_database.port, "ready")
        assert watched(own_database.port, "ping") == HEALTHY
    finally:
        own_database.server.execute(*undone)
    assert own_database.says(""), watched(own_database.port, "ready")


def test_without_redis_a_process_is_ready_and_says_so(serve: Serve) -> None:
    port = serve(workers=1, REDIS_URL="redis://127.0.0.1:1/0")
    assert watched(port, "ready") == (200, "degraded: Redis does not answer")
