"""Commits whose wait for the synchronous standby is cancelled: kept by the primary, and gone after a failover."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection, transaction

from payments import clock
from payments.db.backend.base import DatabaseWrapper
from payments.db.backend.bounded_connection import NotReplicated
from payments.domain.charging import recovery
from payments.embedded.processes import wait_until
from payments.ids import parse_id
from payments.models import Attempt, Charge
from payments.providers.base import Outcome
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.doubles import Do, Double, provider
from tests.client import APPROVED, CARD_FIELDS, Api, error_of
from tests.db_outages.conftest import LONG_SECONDS, STATEMENT_SECONDS, Server

pytestmark = pytest.mark.long

CANCEL = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
WRITE = "SELECT pg_logical_emit_message(true, 'kaha', '')"
PAUSE_SECONDS = 0.02


def follow(server: Server, name: str) -> None:
    """Have every commit wait for the standby `name`, which is not there, or for none."""
    server.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'", "SELECT pg_reload_conf()")


@contextmanager
def cancelled_waits(server: Server) -> Iterator[None]:
    """Have every commit wait for a standby that is not there, and cancel its wait, until the block ends."""
    over = threading.Event()

    def cancel() -> None:
        with server.connect() as admin:
            while not over.wait(PAUSE_SECONDS):
                admin.execute(CANCEL)

    canceller = threading.Thread(target=cancel)
    canceller.start()
    try:
        follow(server, "nobody")
        with server.connect() as writer:
            notices: list[object] = []
            writer.add_notice_handler(notices.append)
            assert wait_until(lambda: bool(writer.execute(WRITE) and notices), LONG_SECONDS)
        yield
    finally:
        follow(server, "")
        over.set()
        canceller.join()


@pytest.fixture
def ours(server: Server) -> Iterator[DatabaseWrapper]:
    made = server.connection()
    with made.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS noted (number int)")
        cursor.execute("TRUNCATE noted")
    yield made
    made.close()
    made.close_pool()


def note(connection: DatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO noted VALUES (1)")


def note_in_transaction(connection: DatabaseWrapper) -> None:
    connection.set_autocommit(False)
    note(connection)
    connection.commit()


def note_for_ever(connection: DatabaseWrapper) -> None:
    """Write until it fails: the first ones may come before the server waits for a standby."""
    while True:
        note(connection)


@pytest.mark.parametrize("write", [note, note_in_transaction])
def test_such_a_commit_is_an_error(
    server: Server, ours: DatabaseWrapper, write: Callable[[DatabaseWrapper], None]
) -> None:
    with cancelled_waits(server), pytest.raises(OperationalError) as raised:
        write(ours)
    assert isinstance(raised.value.__cause__, NotReplicated)
    # It is no failure of the server's, and its connection is not used again.
    assert ours.is_answering
    assert ours.connection.closed
    ours.close()
    with ours.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM noted")
        assert cursor.fetchone() == (1,)


def test_what_waits_for_the_commit_of_a_transaction_is_not_done(server: Server, frozen_api: Api) -> None:
    done: list[int] = []
    with cancelled_waits(server), pytest.raises(OperationalError):
        commit_and_then(lambda: done.append(1))
    assert done == []


@transaction.atomic
def commit_and_then(callback: Callable[[], None]) -> None:
    transaction.on_commit(callback)
    with connection.cursor() as cursor:
        cursor.execute(WRITE)


def test_no_time_limit_of_the_server_ends_the_wait(server: Server, ours: DatabaseWrapper) -> None:
    follow(server, "nobody")
    try:
        with pytest.raises(OperationalError, match="no answer in time"):
            note_for_ever(ours)
    finally:
        follow(server, "")
        ours.close()
        assert wait_until(lambda: ours.is_answering, LONG_SECONDS + STATEMENT_SECONDS)


def test_a_charge_whose_opening_is_unknown_is_asked_of_no_provider(server: Server, frozen_api: Api) -> None:
    source = frozen_api.source()
    order = {"amount": 1000, "source": source, "description": "Order 1001"}
    with provider(Double(create_payment=lambda *_: pytest.fail("asked"))):
        with cancelled_waits(server):
            first = frozen_api.post("/charges/", order, key="once")
        assert (first.status_code, first["Retry-After"]) == (503, "1")
        connection.close()
        second = frozen_api.post("/charges/", order, key="once")
    # It is on this server, and would be unknown to one that was not asked to keep it.
    assert (second.status_code, error_of(second)["code"]) == (409, "idempotency_key_in_use")
    recover()
    third = frozen_api.post("/charges/", order, key="once")
    assert third.json()["status"] == "failed", third.json()
    assert Charge.objects.filter(description="Order 1001").count() == 1


def test_a_charge_whose_outcome_is_not_known_to_be_kept_is_pending(server: Server, frozen_api: Api) -> None:
    waits = cancelled_waits(server)

    def cancel_waits(do: Do, asked: object) -> Outcome:
        outcome = do()
        waits.__enter__()
        return outcome

    source = frozen_api.source()
    try:
        with provider(Double(create_payment=cancel_waits)):
            charge = frozen_api.charge_source(source)
    finally:
        waits.__exit__(None, None, None)
    assert charge["status"] == "pending"
    recover()
    assert frozen_api.read(charge)["status"] == "succeeded"
    reference = Attempt.objects.get(charge=parse_id("ch", charge["id"])).reference
    assert SimulatedPayment.objects.get(reference=reference).state == "captured"


def test_a_source_that_is_not_known_to_be_kept_is_not_acknowledged(server: Server, frozen_api: Api) -> None:
    card = {"type": "card", "card": {**CARD_FIELDS, "number": APPROVED}}
    with cancelled_waits(server):
        refused = frozen_api.post("/sources/", card)
    assert (refused.status_code, error_of(refused)["code"]) == (503, "internal_error")


def recover() -> None:
    """Find out what happened to every attempt that is open."""
    connection.close()
    Attempt.objects.exclude(state="done").update(due_at=clock.now())
    recovery.resolve_due()
