"""The horizon of commits lies before every transaction that may still write."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event as Signal

import pytest
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from payments.db.commit_horizon import commit_horizon
from payments.embedded.processes import wait_until
from tests.concurrency import in_background

pytestmark = pytest.mark.django_db(transaction=True)

WRITE = "SELECT pg_current_xact_id()"
LOCK = "SELECT pg_advisory_xact_lock(42)"
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query = %s"
MARGIN = timedelta(seconds=1)


def value_of(sql: str, *params: object) -> object:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchone()[0]


def began(cursor: CursorWrapper) -> datetime:
    cursor.execute("SELECT now()")
    moment: datetime = cursor.fetchone()[0]
    return moment


@contextmanager
def transaction_under_way(statement: str) -> Iterator[datetime]:
    """Yield when a transaction began that has executed `statement` and stays open."""
    begun: list[datetime] = []
    ready, over = Signal(), Signal()

    def write() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            begun.append(began(cursor))
            cursor.execute(statement)
            ready.set()
            assert over.wait(30)

    with in_background(write):
        try:
            assert ready.wait(30)
            yield begun[0]
        finally:
            over.set()


def test_it_lies_before_the_earliest_transaction_that_has_written() -> None:
    with transaction_under_way(WRITE) as began_at, transaction_under_way(WRITE):
        assert commit_horizon() == began_at - MARGIN


def test_it_lies_before_a_transaction_that_waits_for_a_lock_and_has_written_nothing() -> None:
    begun: list[datetime] = []
    held = Signal()

    def wait_for_lock() -> None:
        assert held.wait(30)
        with transaction.atomic(), connection.cursor() as cursor:
            begun.append(began(cursor))
            cursor.execute(LOCK)

    with in_background(wait_for_lock), transaction_under_way(LOCK):
        held.set()
        assert wait_until(lambda: value_of(WAITS, LOCK) == 1, 30)
        assert commit_horizon() == begun[0] - MARGIN


def test_one_that_only_reads_does_not_hold_it_back() -> None:
    with transaction_under_way("SELECT 1") as began_at:
        assert commit_horizon() > began_at - MARGIN


def test_with_nothing_under_way_it_is_a_second_ago() -> None:
    before = value_of("SELECT clock_timestamp()")
    assert isinstance(before, datetime)
    assert commit_horizon() >= before - MARGIN
