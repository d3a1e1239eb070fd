"""DATABASE_URL with two hosts: the primary, and the standby that is promoted when it ends."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.db import Error

from payments.db.backend.base import DatabaseWrapper
from payments.embedded import postgres
from payments.embedded.processes import wait_until
from payments.quickstart.ports import HOST
from tests.db_outages.conftest import LONG_SECONDS, Server
from tests.support.postgres import data_folder
from tests.support.processes import free_port

pytestmark = pytest.mark.long


class Pair:
    """Two servers, the second of which follows the first."""

    def __init__(self, primary: Server, standby: Server) -> None:
        self.primary, self.standby = primary, standby

    def start(self) -> None:
        postgres.create(self.primary.folders)
        there = self.standby.folders
        postgres.make_database_folder(there)
        shutil.copy(self.primary.folders.data / "settings.env", there.data)
        # A copy of a server that has never run is as good as a base backup.
        shutil.copytree(self.primary.folders.cluster, there.cluster, copy_function=shutil.copy2)
        (there.cluster / "standby.signal").touch()
        for path in [there.cluster, *there.cluster.rglob("*")]:
            there.give(path)
        follows = f"host={HOST} port={self.primary.port} user=kaha password={self.primary.password}"
        hba = self.primary.folders.cluster / "pg_hba.conf"
        hba.write_text(f"{hba.read_text()}\nhost replication all {HOST}/32 scram-sha-256\n")
        self.primary.start(wal_level="replica")
        self.standby.start(wal_level="replica", primary_conninfo=follows)

    def connection(self) -> DatabaseWrapper:
        """Return a connection whose hosts are the standby, which is asked first, and the primary."""
        there = {"HOST": f"{HOST},{HOST}", "PORT": f"{self.standby.port},{self.primary.port}"}
        return self.primary.connection(**there)

    def make_primary_read_only(self) -> None:
        self.primary.execute("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")

    def is_followed(self) -> bool:
        caught_up = "SELECT bool_or(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication"
        return bool(self.primary.execute(caught_up)[0][0])


@pytest.fixture
def pair(server: Server) -> Iterator[Pair]:
    with ExitStack() as stack:
        first, second = (Server(stack.enter_context(data_folder()), free_port()) for _ in range(2))
        made = Pair(first, second)
        made.start()
        yield made
        for each in (first, second):
            each.stop()


def run(connection: DatabaseWrapper, statement: str) -> object:
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchone()[0]
    finally:
        connection.close()


def works(connection: DatabaseWrapper, statement: str) -> bool:
    try:
        run(connection, statement)
    except Error:
        return False
    return True


WRITE = "WITH one AS (INSERT INTO kept VALUES (1) RETURNING 1) SELECT count(*) FROM one"


def test_a_failover_is_followed_and_nothing_that_was_answered_is_lost(pair: Pair) -> None:
    ours = pair.connection()
    with ours.cursor() as cursor:
        cursor.execute("CREATE TABLE kept (number int)")
    ours.close()
    assert run(ours, WRITE) == 1
    assert wait_until(pair.is_followed, LONG_SECONDS)
    pair.primary.kill()
    assert not works(ours, WRITE)
    pair.standby.execute("SELECT pg_promote()")
    assert wait_until(lambda: works(ours, WRITE), LONG_SECONDS)
    assert run(ours, "SELECT count(*) FROM kept") == 2
    ours.close_pool()


def test_a_primary_that_takes_no_writes_any_more_is_left(pair: Pair) -> None:
    ours = pair.connection()
    with ours.cursor() as cursor:
        cursor.execute("CREATE TABLE kept (number int)")
    ours.close()
    assert wait_until(pair.is_followed, LONG_SECONDS)
    pair.make_primary_read_only()
    assert wait_until(lambda: not works(ours, WRITE), LONG_SECONDS)
    pair.standby.execute("SELECT pg_promote()")
    assert wait_until(lambda: works(ours, WRITE), LONG_SECONDS)
    ours.close_pool()
