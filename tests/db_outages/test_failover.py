"""PostgreSQL fails over: the standby that is promoted, and a host that is unplugged."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier

import pytest
from django.db import Error, OperationalError

from payments.db.backend.base import DatabaseWrapper
from payments.embedded import postgres
from payments.embedded.processes import wait_until
from payments.quickstart.ports import HOST
from tests.client import Api
from tests.db_outages.conftest import LONG_SECONDS, Server
from tests.db_outages.network import PORT, Network, network_before
from tests.db_outages.test_connections import ask
from tests.support.postgres import data_folder
from tests.support.processes import free_port
from tests.support.web import web_process
from tests.web.clients import ask as ask_web
from tests.web.clients import head

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


# Without time-outs of ours a connection waits for a quarter of an hour and longer.
PATIENCE_SECONDS = 40
POOL = 8
HOURS = 3600


@pytest.fixture
def network(server: Server, tmp_path: Path) -> Iterator[Network]:
    with network_before(server.folders.database_socket / f".s.PGSQL.{server.port}", tmp_path) as made:
        yield made
        made.mend()


def connections_of(server: Server, network: Network, count: int) -> list[DatabaseWrapper]:
    """Return the connections of the threads of one process, each with a statement time-out of hours."""
    own = {"HOST": network.address, "PORT": str(PORT), "CONNECTIONS": POOL, "STATEMENT_SECONDS": HOURS}
    made = [server.connection(**own) for _ in range(count)]
    for connection in made:
        connection.inc_thread_sharing()
    return made


def fails(connection: DatabaseWrapper, statement: str = "SELECT 1") -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
    except OperationalError:
        return True
    finally:
        connection.close()
    return False


def ask_all_at_once(connections: list[DatabaseWrapper]) -> list[int]:
    """Have each thread ask while all others hold their connections."""
    everyone = Barrier(len(connections), timeout=PATIENCE_SECONDS)

    def take_part(connection: DatabaseWrapper) -> int:
        answer = ask(connection)
        everyone.wait()
        connection.close()
        return answer

    with ThreadPoolExecutor(len(connections)) as threads:
        return list(threads.map(take_part, connections))


def test_a_statement_sent_to_a_host_that_is_gone_ends(server: Server, network: Network) -> None:
    [ours] = connections_of(server, network, 1)
    ask(ours)
    network.cut()
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(fails, ours).result(PATIENCE_SECONDS)
    network.mend()
    assert wait_until(lambda: ours.is_answering, PATIENCE_SECONDS)
    ours.close_pool()


def test_a_statement_under_way_on_a_host_that_goes_ends(server: Server, network: Network) -> None:
    ours, other = connections_of(server, network, 2)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(fails, ours, "SELECT pg_sleep(3600)")
        sleeps = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        with other.cursor() as cursor:
            assert wait_until(lambda: cursor.execute(sleeps).fetchone() == (1,), PATIENCE_SECONDS)
        network.cut()
        assert waiting.result(PATIENCE_SECONDS)
        assert threads.submit(fails, other).result(PATIENCE_SECONDS)
    network.mend()
    assert wait_until(lambda: ours.is_answering, PATIENCE_SECONDS)
    ours.close_pool()


def test_every_connection_of_the_pool_is_there_again(server: Server, network: Network) -> None:
    connections = connections_of(server, network, POOL)
    assert ask_all_at_once(connections) == [1] * POOL
    network.cut()
    with ThreadPoolExecutor(POOL) as threads:
        assert all(threads.map(fails, connections, timeout=PATIENCE_SECONDS))
    network.mend()
    assert wait_until(lambda: connections[0].is_answering, PATIENCE_SECONDS)
    assert ask_all_at_once(connections) == [1] * POOL
    connections[0].close_pool()


def test_a_web_process_serves_again_with_all_its_connections(
    server: Server, frozen_api: Api, network: Network, tmp_path: Path
) -> None:
    settings = server.settings()
    address = f"postgresql://kaha:{settings['PASSWORD']}@{network.address}:{PORT}/kaha"
    request = head("GET /v2/charges/", key=frozen_api.key)

    def statuses(_: object = None) -> list[int]:
        with ThreadPoolExecutor(2 * POOL) as threads:
            return [response.status for response, _ in threads.map(lambda _: ask_web(port, request), range(2 * POOL))]

    with web_process(tmp_path, workers=1, DATABASE_URL=address) as (url, _):
        port = int(url.rpartition(":")[2])
        assert statuses() == [200] * 2 * POOL
        network.cut()
        assert statuses() == [503] * 2 * POOL
        network.mend()
        assert wait_until(lambda: statuses() == [200] * 2 * POOL, PATIENCE_SECONDS)
