"""A real standby that this process reads from."""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import getclosurevars
from typing import Any

import pytest
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from pytest_django import DjangoDbBlocker, Settings

from config.boot import databases
from payments.db.backend import session
from payments.db.backend.base import DatabaseWrapper
from payments.db.replica import REPLICA, reads, state
from payments.db.replica.positions import positions
from payments.domain.merchants.merchants import create_merchant
from payments.metrics.counters import REPLICA_READS
from payments.models import Merchant
from payments.quickstart.servers.processes import wait_until
from tests.standbys import Standby, standby

PATIENCE_SECONDS = 15
# Long enough for all that a test does with data of one age.
LONG_LAG_SECONDS = 300


@pytest.fixture(scope="package")
def shared_standby(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Standby]:
    with django_db_blocker.unblock(), standby() as started:
        yield started


@pytest.fixture
def replica(shared_standby: Standby, transactional_db: None, settings: Settings) -> Iterator[Standby]:
    """Have this process read from the standby, which is level with the primary."""
    settings.REPLICA_MAX_LAG_SECONDS = LONG_LAG_SECONDS
    with connected(shared_standby):
        catch_up()
        yield shared_standby


@contextmanager
def connected(there: Standby, **own: Any) -> Iterator[None]:
    """Have this process read from a standby, by these settings of its `own`, until the block ends."""
    named = {**connections["default"].settings_dict, "HOST": there.host}
    before = connections.settings.get(REPLICA)
    _forget()
    connections.settings[REPLICA] = databases.replica(named, is_pooled=False) | own
    try:
        with pytest.MonkeyPatch.context() as patch:
            # During a test Django refuses databases that the run has not made.
            real = getclosurevars(BaseDatabaseWrapper.ensure_connection).nonlocals["real_ensure_connection"]
            patch.setattr(DatabaseWrapper, "ensure_connection", real)
            yield
    finally:
        _forget()
        if before:
            connections.settings[REPLICA] = before


def _forget() -> None:
    positions._noted.clear()
    if REPLICA not in connections.settings:
        return
    connections[REPLICA].close()
    connections[REPLICA].close_pool()  # type: ignore[attr-defined]
    for key in [key for key in DatabaseWrapper._by_process_and_name if key[2]]:
        del DatabaseWrapper._by_process_and_name[key]
    del connections[REPLICA], connections.settings[REPLICA]


def note() -> None:
    """Note the position of the primary, as a web server does once a second."""
    with session.open_outside_pool(connection.get_connection_params()) as probe:
        # The suite's server acknowledges before it has flushed; a commit that waits for it flushes all before it.
        probe.execute("SET synchronous_commit = on")
        probe.execute("SELECT pg_logical_emit_message(true, 'kaha', '')")
        positions.note(probe)


def catch_up() -> None:
    """Wait until the replica has what is written now, and know it."""
    forget_positions()
    assert wait_until(is_level, PATIENCE_SECONDS)


def is_level() -> bool:
    found = state.read_state()
    assert found
    return not found.error and found.age_seconds is not None and not found.is_behind


def forget_positions() -> None:
    """Forget what was known of the primary, and note where it is now: what was written since is needed."""
    positions._noted.clear()
    note()


def refused_write() -> list[type[BaseException | None]]:
    """Try to write by a read from the replica; return the types of the errors that refused it."""
    refused = []

    def write() -> int:
        try:
            return Merchant.objects.update(title="Written")
        except Exception as error:
            refused.append(type(error.__cause__))
            raise

    create_merchant("Sari Store")
    catch_up()
    reads.read(write)
    return refused


class Counts:
    """How often reads that may go to the replica were answered by whom since this was made."""

    def __init__(self) -> None:
        self._before = {name: _count(name) for name in ("answered", "behind", "failed")}

    def __getattr__(self, name: str) -> int:
        return _count(name) - self._before[name]


def _count(name: str) -> int:
    return int(REPLICA_READS.labels(name)._value.get())
