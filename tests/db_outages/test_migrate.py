"""`migrate` beside a service that works, and beside another `migrate`."""

import os
import subprocess
import sys
from dataclasses import dataclass

import psycopg
import pytest

from payments.embedded.folders import PROJECT
from payments.embedded.processes import wait_until
from tests.db_outages.conftest import LONG_SECONDS, Server

pytestmark = pytest.mark.long


def migrate(url: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "manage.py", "migrate", *arguments],
        env=os.environ | {"DATABASE_URL": url},
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@dataclass(frozen=True)
class Migrated:
    """The DATABASE_URL of a database that two commands have migrated at once; what they printed and returned."""

    url: str
    outputs: list[str]
    statuses: list[int]


@pytest.fixture(scope="module")
def migrated(shared_server: Server) -> Migrated:
    settings = shared_server.settings()
    address = f"postgresql://kaha:{settings['PASSWORD']}@127.0.0.1:{shared_server.port}"
    with psycopg.connect(f"{address}/kaha", autocommit=True) as connection:
        connection.execute("CREATE DATABASE fresh")
    both = [migrate(f"{address}/fresh") for _ in range(2)]
    outputs = [process.communicate(timeout=10 * LONG_SECONDS)[0] for process in both]
    return Migrated(f"{address}/fresh", outputs, [process.returncode for process in both])


def test_two_at_once_are_as_one_after_the_other(migrated: Migrated) -> None:
    assert migrated.statuses == [0, 0], migrated.outputs
    assert sum("No migrations to apply" in text for text in migrated.outputs) == 1


def test_a_migration_that_gets_no_lock_is_rolled_back_and_tried_again(migrated: Migrated) -> None:
    url = migrated.url
    with psycopg.connect(url) as connection:
        for (table,) in connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'customers_%'"):
            connection.execute(f"DROP TABLE {table} CASCADE")
        connection.execute("DELETE FROM django_migrations WHERE app = 'customers'")
    with psycopg.connect(url) as service:
        # As a charge that is being made: a foreign key to this table has to wait.
        service.execute("LOCK TABLE payments_merchant IN ROW EXCLUSIVE MODE")
        process = migrate(url, "customers")
        assert process.stdout
        assert any("A table is in use" in line for line in process.stdout)
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        with psycopg.connect(url, autocommit=True) as other:
            assert wait_until(lambda: other.execute(waiting).fetchone() == (0,), LONG_SECONDS)
        service.rollback()
    assert process.communicate(timeout=10 * LONG_SECONDS)[0].count("OK") >= 1
    assert process.returncode == 0
