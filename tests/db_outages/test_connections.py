"""Connections, requests and the worker's claims while PostgreSQL does not answer."""

import asyncio
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import InterfaceError, OperationalError, connection
from psycopg import Connection

from payments import clock
from payments.db.backend.base import DatabaseWrapper
from payments.db.backend.bounded_connection import SILENCE_SECONDS, NotAnswering
from payments.domain.charging import recovery
from payments.embedded.processes import wait_until
from payments.ids import parse_id
from payments.models import Attempt
from payments.providers.base import Outcome
from payments.providers.simulator.models import SimulatedPayment
from payments.quickstart.ports import HOST
from payments.webhooks.claim_connection import connect
from tests.charging.doubles import Do, Double, provider
from tests.client import Api, error_of
from tests.db_outages.conftest import LONG_SECONDS, STATEMENT_SECONDS, Server, point_to

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


def thaw(server: Server) -> None:
    server.thaw()
    connection.close()
    assert wait_until(lambda: connection.is_answering, LONG_SECONDS)


def test_a_request_is_answered_503_and_succeeds_later(server: Server, frozen_api: Api) -> None:
    assert frozen_api.get("/charges/").status_code == 200
    connection.close()
    server.freeze()
    # The first one waits for an answer, the second one for nothing.
    for _ in range(2):
        response = frozen_api.get("/charges/")
        assert (response.status_code, response["Retry-After"]) == (503, "1")
        assert (error_of(response)["type"], error_of(response)["code"]) == ("api_error", "internal_error")
    assert not connection.is_answering

    thaw(server)
    assert frozen_api.get("/charges/").status_code == 200


def test_a_payers_page_says_503_too(server: Server, frozen_api: Api) -> None:
    charge = frozen_api.charge_source(frozen_api.wallet())
    path = charge["action"]["url"].partition("/simulator")[2]
    connection.close()
    server.freeze()
    response = frozen_api.client.get(f"/simulator{path}")
    assert (response.status_code, response["Retry-After"]) == (503, "1")


def test_what_may_have_moved_money_is_answered_as_it_is_known(server: Server, frozen_api: Api) -> None:
    def freeze(do: Do, asked: object) -> Outcome:
        outcome = do()
        server.freeze()
        return outcome

    source = frozen_api.source()
    with provider(Double(create_payment=freeze)):
        charge = frozen_api.charge_source(source)
    assert charge["status"] == "pending"

    thaw(server)
    # What it had been sent it may do now by itself; otherwise recovery does.
    Attempt.objects.exclude(state="done").update(due_at=clock.now())
    recovery.resolve_due()
    assert frozen_api.read(charge)["status"] == "succeeded"
    reference = Attempt.objects.get(charge=parse_id("ch", charge["id"])).reference
    assert SimulatedPayment.objects.get(reference=reference).state == "captured"


@pytest.mark.parametrize("is_known", [True, False])
def test_a_charge_that_cannot_be_opened_asks_no_provider(server: Server, frozen_api: Api, is_known: bool) -> None:
    charge = frozen_api.charge()
    connection.close()
    server.freeze()
    with provider(Double(refund=lambda *_: pytest.fail("asked"))):
        if is_known:
            frozen_api.get("/charges/")
        assert frozen_api.post(f"/charges/{charge['id']}/refund", key="once").status_code == 503

    thaw(server)
    assert frozen_api.post(f"/charges/{charge['id']}/refund", key="once").status_code == 200


@pytest.fixture
def frozen(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    point_to(server, monkeypatch)
    yield server
    server.thaw()
    assert wait_until(lambda: connection.is_answering, LONG_SECONDS)
    connection.close_pool()


def test_a_claim_that_gets_no_answer_ends(frozen: Server) -> None:
    async def claim() -> None:
        async with asyncio.timeout(LONG_SECONDS), await connect() as database:
            await database.execute("SELECT 1")
            frozen.freeze()
            await database.execute("SELECT 1")

    with pytest.raises(NotAnswering):
        asyncio.run(claim())


def test_a_statement_that_takes_long_is_waited_for_while_the_server_answers_others(frozen: Server) -> None:
    async def wait() -> tuple[object, ...] | None:
        async with asyncio.timeout(LONG_SECONDS), await connect() as database:
            await database.execute("SET statement_timeout = 0")
            taken = await database.execute("SELECT 1 FROM pg_sleep(%s)", [SILENCE_SECONDS + 2])
            return await taken.fetchone()

    assert asyncio.run(wait()) == (1,)
