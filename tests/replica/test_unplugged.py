"""The host of a replica that is unplugged: packets vanish, and no connection is refused or ended."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection, connections
from pytest_django import Settings

from config.boot.databases import REPLICA_CONNECTIONS
from payments.db.replica import REPLICA, reads
from payments.domain.merchants.merchants import create_merchant
from payments.quickstart.servers.processes import wait_until
from tests.db_outages.network import PORT, Network, network_before
from tests.replica.conftest import LONG_LAG_SECONDS, PATIENCE_SECONDS, Counts, catch_up, connected
from tests.replica.test_reads import titles
from tests.standbys import Standby

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# Without time-outs of ours a connection waits for a quarter of an hour and longer.
UNPLUGGED_SECONDS = 40
READERS = 2 * REPLICA_CONNECTIONS


@pytest.fixture
def network(shared_standby: Standby, transactional_db: None, settings: Settings, tmp_path: Path) -> Iterator[Network]:
    """Have this process read from the standby through a network that can be cut."""
    settings.REPLICA_MAX_LAG_SECONDS = LONG_LAG_SECONDS
    with (
        network_before(shared_standby.places.database_socket / ".s.PGSQL.5432", tmp_path) as made,
        connected(shared_standby, HOST=made.address, PORT=str(PORT)),
    ):
        create_merchant("Sari Store")
        catch_up()
        yield made


def read(_: object = None) -> list[str]:
    """Read once, in any thread."""
    try:
        return reads.read(titles)
    finally:
        connection.close()


def is_answering() -> bool:
    return bool(connections[REPLICA].is_answering)  # type: ignore[attr-defined]


def test_every_reader_waits_once_at_most_and_is_answered_by_the_primary(network: Network) -> None:
    with ThreadPoolExecutor(READERS) as threads:
        counts = Counts()
        assert list(threads.map(read, range(READERS))) == [["Sari Store"]] * READERS
        assert counts.failed == 0
        network.cut()
        # Those with a connection wait for an answer, the others for a connection; each of them once.
        assert list(threads.map(read, range(READERS), timeout=UNPLUGGED_SECONDS)) == [["Sari Store"]] * READERS
        assert counts.failed == READERS
        assert not is_answering()
        # From now on nothing is asked of it, so there is nothing to wait for.
        pool = connections[REPLICA].process_pool  # type: ignore[attr-defined]
        assert list(threads.map(read, range(100), timeout=UNPLUGGED_SECONDS)) == [["Sari Store"]] * 100
        assert (counts.failed, pool.in_use, pool.waiting) == (READERS + 100, 0, 0)
        network.mend()
        assert wait_until(is_answering, PATIENCE_SECONDS)
        before = counts.answered
        assert wait_until(lambda: (read(), counts.answered > before)[1], PATIENCE_SECONDS)


def test_one_that_was_unplugged_before_the_first_read_costs_one_wait(network: Network) -> None:
    network.cut()
    connections[REPLICA].close_pool()  # type: ignore[attr-defined]
    counts = Counts()
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(read).result(UNPLUGGED_SECONDS) == ["Sari Store"]
        assert not is_answering()
        assert threads.submit(read).result(UNPLUGGED_SECONDS) == ["Sari Store"]
    assert (counts.answered, counts.failed) == (0, 2)
