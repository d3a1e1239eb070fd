"""`migrate` beside a service that works, and beside another `migrate`."""

import os
import sys
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from payments.embedded.processes import wait_until
from payments.management.commands.migrate import IS_ALONE
from tests.db_outages.conftest import LONG_SECONDS, Server
from tests.support.processes import Program, start

pytestmark = pytest.mark.long


def migrate(url: str, log: Path, *arguments: str) -> Program:
    command = [sys.executable, "manage.py", "migrate", *arguments]
    return start(command, log=log, environment=os.environ | {"DATABASE_URL": url})


def has_waited_long(looks: set[Any], connection: psycopg.Connection) -> bool:
    """Add what is asked now to `looks`; say whether two have asked more often than psycopg needs to prepare it."""
    asked = "SELECT pid, query_start FROM pg_stat_activity WHERE query IN ('ROLLBACK', %s) AND pid <> pg_backend_pid()"
    looks.update(connection.execute(asked, [IS_ALONE]))
    often = [pid for pid, count in Counter(pid for pid, _ in looks).items() if count > 6]
    return len(often) == 2


@dataclass(frozen=True)
class Migrated:
    """The DATABASE_URL of a database that two commands have migrated at once; what they printed and returned."""

    url: str
    outputs: list[str]
    statuses: list[int]


@pytest.fixture(scope="module")
def migrated(shared_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Migrated:
    shared_server.execute("CREATE DATABASE fresh")
    url, folder = shared_server.url("fresh"), tmp_path_factory.mktemp("migrate")
    with psycopg.connect(url) as first, psycopg.connect(url, autocommit=True) as other:
        first.execute(IS_ALONE)
        both = [migrate(url, folder / str(number)) for number in range(2)]
        assert wait_until(partial(has_waited_long, set(), other), 10 * LONG_SECONDS)
        # The index waits for each transaction that has a snapshot.
        other.execute(f"SET statement_timeout = '{10 * LONG_SECONDS}s'")
        other.execute("CREATE TABLE written (id bigint)")
        other.execute("CREATE INDEX CONCURRENTLY ON written (id)")
    statuses = [program.wait(10 * LONG_SECONDS) for program in both]
    return Migrated(url, [program.output for program in both], statuses)


def test_two_at_once_are_as_one_after_the_other(migrated: Migrated) -> None:
    assert migrated.statuses == [0, 0], migrated.outputs
    assert sum("No migrations to apply" in text for text in migrated.outputs) == 1


def test_a_migration_that_gets_no_lock_is_rolled_back_and_tried_again(migrated: Migrated, tmp_path: Path) -> None:
    url = migrated.url
    with psycopg.connect(url) as connection:
        for (table,) in connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'customers_%'"):
            connection.execute(f"DROP TABLE {table} CASCADE")
        connection.execute("DELETE FROM django_migrations WHERE app = 'customers'")
    with psycopg.connect(url) as service:
        # As a charge that is being made: a foreign key to this table has to wait.
        service.execute("LOCK TABLE payments_merchant IN ROW EXCLUSIVE MODE")
        program = migrate(url, tmp_path / "log", "customers").wait_until("A table is in use")
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        with psycopg.connect(url, autocommit=True) as other:
            assert wait_until(lambda: other.execute(waiting).fetchone() == (0,), LONG_SECONDS)
        service.rollback()
    assert (program.wait(10 * LONG_SECONDS), "OK" in program.output) == (0, True)
