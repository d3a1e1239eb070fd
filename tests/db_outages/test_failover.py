"""DATABASE_URL with two hosts: the primary, and the standby that is promoted when it ends."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from django.db import Error

from payments.db.backend.base import DatabaseWrapper
from payments.embedded import postgres
from payments.embedded.folders import Folders, make_running_folders, prepare
from payments.embedded.processes import wait_until
from payments.quickstart.ports import HOST, claim
from tests.db_outages.conftest import LONG_SECONDS, Server
from tests.quickstart.conftest import remove_linked_folders

pytestmark = pytest.mark.long


class Pair:
    """Two servers, the second of which follows the first."""

    def __init__(self, servers: list[Server], password: str) -> None:
        self.primary, self.standby = servers
        self._password = password
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, stack: ExitStack) -> None:
        postgres.create(self.primary.folders)
        # A copy of a server that has never run is as good as a base backup.
        shutil.copytree(self.primary.folders.cluster, self.standby.folders.cluster, copy_function=shutil.copy2)
        for path in [self.standby.folders.cluster, *self.standby.folders.cluster.rglob("*")]:
            self.standby.folders.give(path)
        signal_file = self.standby.folders.cluster / "standby.signal"
        signal_file.touch()
        self.standby.folders.give(signal_file)
        follows = f"host={HOST} port={self.primary.port} user=kaha password={self._password}"
        hba = self.primary.folders.cluster / "pg_hba.conf"
        hba.write_text(f"{hba.read_text()}\nhost replication all {HOST}/32 scram-sha-256\n")
        for server, own in ((self.primary, {}), (self.standby, {"primary_conninfo": follows})):
            process = postgres.start(
                server.folders, {"listen_addresses": HOST, "port": str(server.port), "wal_level": "replica", **own}
            )
            self._processes.append(process)
            stack.callback(postgres.stop_server, process)
            assert wait_until(lambda server=server: self._is_up(server), LONG_SECONDS)

    def connection(self) -> DatabaseWrapper:
        """Return a connection whose hosts are the standby, which is asked first, and the primary."""
        there = {"HOST": f"{HOST},{HOST}", "PORT": f"{self.standby.port},{self.primary.port}"}
        return self.primary.connection(PASSWORD=self._password, **there)

    def kill_primary(self) -> None:
        self._processes[0].send_signal(signal.SIGQUIT)
        self._processes[0].wait()

    def promote(self) -> None:
        with self._ask(self.standby) as standby:
            standby.execute("SELECT pg_promote()")

    def make_primary_read_only(self) -> None:
        with self._ask(self.primary) as primary:
            primary.execute("ALTER SYSTEM SET default_transaction_read_only = on")
            primary.execute("SELECT pg_reload_conf()")

    def is_followed(self) -> bool:
        with self._ask(self.primary) as primary:
            row = primary.execute("SELECT bool_or(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication")
            return bool(row.fetchone()[0])  # type: ignore[index]

    def _ask(self, server: Server) -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(
            host=HOST, port=server.port, user="kaha", dbname="kaha", password=self._password, autocommit=True
        )

    def _is_up(self, server: Server) -> bool:
        try:
            self._ask(server).close()
        except psycopg.Error:
            return False
        return True


def folders_in(folder: Path) -> Folders:
    folder.mkdir()
    folder.chmod(0o711)
    folders = prepare(folder / "data")
    make_running_folders(folders)
    return folders


@pytest.fixture
def pair(server: Server, tmp_path: Path) -> Iterator[Pair]:
    tmp_path.chmod(0o711)
    with ExitStack() as stack:
        servers = []
        for name in ("first", "second"):
            with claim(0) as claimed:
                servers.append(Server(folders_in(tmp_path / name), claimed.getsockname()[1]))
            stack.callback(remove_linked_folders, servers[-1].folders.data)
        postgres.make_database_folder(servers[1].folders)
        made = Pair(servers, postgres.secrets_of(servers[0].folders.data)["POSTGRES_PASSWORD"])
        made.start(stack)
        yield made


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
    pair.kill_primary()
    assert not works(ours, WRITE)
    pair.promote()
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
    pair.promote()
    assert wait_until(lambda: works(ours, WRITE), LONG_SECONDS)
    ours.close_pool()
