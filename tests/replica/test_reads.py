"""What is read from the replica, and when the primary answers instead."""

from collections.abc import Iterator
from threading import Thread

import pytest
from django.db import connection, connections, transaction
from django.test import Client
from psycopg.errors import ReadOnlySqlTransaction
from pytest_django import Settings

from payments.db.commit_horizon import commit_horizon
from payments.db.replica import REPLICA, reads
from payments.domain.merchants.merchants import create_merchant
from payments.models import Merchant
from payments.quickstart.servers.processes import wait_until
from tests.admin.conftest import operator as operator  # a fixture
from tests.admin.conftest import text_of
from tests.replica.conftest import (
    LONG_LAG_SECONDS,
    PATIENCE_SECONDS,
    Counts,
    catch_up,
    connected,
    forget_positions,
    note,
    refused_write,
)
from tests.standbys import Standby, standby

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

MERCHANTS = "/admin/payments/merchant/"


@pytest.fixture
def paused(replica: Standby) -> Iterator[Standby]:
    """Yield a replica that has stopped to apply what it receives."""
    replica.pause()
    yield replica
    replica.resume()


def titles() -> list[str]:
    return list(Merchant.objects.order_by("title").values_list("title", flat=True))


def test_a_list_is_read_from_the_replica(paused: Standby, operator: Client) -> None:
    create_merchant("Written Later")
    counts = Counts()
    assert "Written Later" not in text_of(operator.get(MERCHANTS))
    assert (counts.answered, counts.behind, counts.failed) == (1, 0, 0)


def test_without_a_replica_everything_is_read_from_the_primary(transactional_db: None, operator: Client) -> None:
    create_merchant("Sari Store")
    counts = Counts()
    assert "Sari Store" in text_of(operator.get(MERCHANTS))
    assert (counts.answered, counts.behind, counts.failed) == (0, 0, 0)


def test_the_primary_answers_within_the_bound_once_the_replica_stops_to_apply(
    paused: Standby, operator: Client, settings: Settings
) -> None:
    settings.REPLICA_MAX_LAG_SECONDS = 2
    create_merchant("Written Later")
    counts = Counts()

    def is_shown() -> bool:
        note()
        return "Written Later" in text_of(operator.get(MERCHANTS))

    assert wait_until(is_shown, PATIENCE_SECONDS)
    assert (counts.behind, counts.failed) == (1, 0)
    # It is asked again once it is level.
    settings.REPLICA_MAX_LAG_SECONDS = LONG_LAG_SECONDS
    paused.resume()
    catch_up()
    assert "Written Later" in text_of(operator.get(MERCHANTS))
    assert counts.behind == 1


def test_a_replica_is_fresh_however_long_nothing_is_written(replica: Standby, settings: Settings) -> None:
    counts = Counts()
    forget_positions()
    assert wait_until(lambda: (reads.read(titles), counts.answered)[1], PATIENCE_SECONDS)


def test_nothing_is_read_from_it_before_a_position_of_the_primary_is_known(replica: Standby) -> None:
    create_merchant("Sari Store")
    replica.pause()
    try:
        counts = Counts()
        forget_positions()
        assert reads.read(titles) == ["Sari Store"]
        assert counts.behind == 1
    finally:
        replica.resume()


def test_the_primary_answers_for_a_replica_that_is_gone_and_it_costs_no_wait_from_then_on(
    transactional_db: None, operator: Client
) -> None:
    with standby() as own, connected(own):
        catch_up()
        create_merchant("Sari Store")
        catch_up()
        counts = Counts()
        text_of(operator.get(MERCHANTS))
        assert counts.answered == 1
        own.stop()
        for _ in range(3):
            assert "Sari Store" in text_of(operator.get(MERCHANTS))
        assert counts.failed == 3
        assert not connections[REPLICA].is_answering  # type: ignore[attr-defined]
        assert connection.is_answering  # type: ignore[attr-defined]


def test_a_thread_that_waits_for_one_that_hangs_holds_no_connection_of_the_primary_and_is_answered_by_it(
    replica: Standby, operator: Client
) -> None:
    create_merchant("Sari Store")
    catch_up()
    found: list[list[str]] = []

    def read() -> None:
        titles()
        found.append(reads.read(titles))
        connection.close()

    reads.read(titles)
    primary, pool = (connections[name].process_pool for name in ("default", REPLICA))  # type: ignore[attr-defined]
    connection.close()
    # A request that a browser has given up keeps its connection in the process of a live server, for ever.
    lost = primary.in_use
    replica.freeze()
    try:
        reader = Thread(target=read)
        reader.start()
        assert wait_until(lambda: (pool.in_use, primary.in_use) == (1, lost), PATIENCE_SECONDS)
        reader.join(PATIENCE_SECONDS)
        assert found == [["Sari Store"]]
        # From now on it costs no wait.
        counts = Counts()
        assert not connections[REPLICA].is_answering  # type: ignore[attr-defined]
        assert "Sari Store" in text_of(operator.get(MERCHANTS))
        assert counts.failed == 1
    finally:
        replica.thaw()
    assert wait_until(lambda: connections[REPLICA].is_answering, PATIENCE_SECONDS)  # type: ignore[attr-defined]


def test_a_thread_that_finds_no_connection_to_it_reads_from_the_primary(
    transactional_db: None, replica: Standby
) -> None:
    with connected(replica, CONNECTIONS=1):
        catch_up()
        counts = Counts()
        pool = connections[REPLICA].process_pool  # type: ignore[attr-defined]
        taken = pool.take()
        assert reads.read(lambda: connection.alias) == "default"
        pool.give_back(taken)
        assert counts.failed == 1
        assert reads.read(lambda: connections["default"].alias) == REPLICA


def test_an_error_of_the_replica_that_the_work_takes_for_its_own_is_no_answer(replica: Standby) -> None:
    def work() -> str:
        there = connections["default"]
        if there.alias == REPLICA:
            there.connection.close()
        return there.alias

    assert reads.read(work) == "default"


def test_what_is_missing_on_the_replica_is_read_from_the_primary(replica: Standby) -> None:
    """As while a migration is not applied there yet."""
    replica.pause()
    try:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE new_table AS SELECT 7 AS number")
        assert reads.read(number) == 7
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE new_table")
        replica.resume()


def number() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT number FROM new_table")
        found: int = cursor.fetchone()[0]
    return found


def test_the_statements_of_one_read_see_one_moment(replica: Standby) -> None:
    def work() -> tuple[list[str], list[str]]:
        first = titles()
        if connections["default"].alias == REPLICA:
            create_elsewhere("Written Meanwhile", replica)
        return first, titles()

    counts = Counts()
    assert reads.read(work) == ([], [])
    assert counts.answered == 1
    assert titles() == ["Written Meanwhile"]


def create_elsewhere(title: str, replica: Standby) -> None:
    """Create a merchant in another thread, and wait until the replica has it."""

    def create() -> None:
        create_merchant(title)
        connection.close()

    writer = Thread(target=create)
    writer.start()
    writer.join(PATIENCE_SECONDS)
    with replica.session() as there:
        sql = "SELECT count(*) FROM payments_merchant"
        assert wait_until(lambda: there.execute(sql).fetchone() == (1,), PATIENCE_SECONDS)


def test_within_a_transaction_nothing_is_read_from_the_replica(replica: Standby) -> None:
    with transaction.atomic():
        assert reads.read(lambda: connections["default"].alias) == "default"


def test_a_read_within_a_read_stays_where_it_is(replica: Standby) -> None:
    assert reads.read(lambda: reads.read(lambda: connections["default"].alias)) == REPLICA
    assert connections["default"].alias == "default"


def test_no_session_with_the_replica_can_write(replica: Standby) -> None:
    assert refused_write() == [ReadOnlySqlTransaction]


def test_the_horizon_of_commits_is_never_read_from_a_replica(replica: Standby) -> None:
    """It knows nothing of a transaction that is under way on the primary."""
    with pytest.raises(RuntimeError, match="from the primary"):
        reads.read(commit_horizon)
    assert connections["default"].alias == "default"


def test_a_file_is_never_continued_on_a_replica_that_has_failed_once(replica: Standby) -> None:
    reader = reads.Reader()
    assert reader(lambda: connections["default"].alias) == REPLICA
    replica.pause()
    try:
        forget_positions_after_a_write()
        assert reader(lambda: connections["default"].alias) == "default"
    finally:
        replica.resume()
    catch_up()
    assert reader(lambda: connections["default"].alias) == "default"


def forget_positions_after_a_write() -> None:
    create_merchant("Sari Store")
    forget_positions()
