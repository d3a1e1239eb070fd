"""Months of the past in parts of their own, where a new database has one part for all of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta

from django.db import connection
from django.db.backends.utils import CursorWrapper

from payments.db.partitions import ALL, EVENTS, PartitionedTable, after, begins, make


@contextmanager
def months_behind(count: int) -> Iterator[list[date]]:
    """Add this many months before the first and yield all, earliest first; remove them afterwards."""
    with connection.cursor() as cursor:
        first = EVENTS.starts(cursor)[0]
        behind = [after(first, -number) for number in range(count, 0, -1)]
        for parted in ALL:
            _bound_below(cursor, parted, first, f"'{begins(first)}'")
            for month in behind:
                make(cursor, parted, month)
    yield behind
    with connection.cursor() as cursor:
        for parted in ALL:
            for month in behind:
                cursor.execute(f"DROP TABLE IF EXISTS {parted.part(month)}")
            _bound_below(cursor, parted, first, "MINVALUE")


def middle_of(month: date) -> datetime:
    return datetime.combine(month, time(), UTC) + timedelta(days=14)


def months_of(parted: PartitionedTable) -> list[date]:
    with connection.cursor() as cursor:
        return parted.starts(cursor)


def forget_ahead(parted: PartitionedTable, kept: int) -> None:
    """Drop the months of a table but for the first so many."""
    with connection.cursor() as cursor:
        for month in parted.starts(cursor)[kept:]:
            cursor.execute(f"DROP TABLE {parted.part(month)}")


def _bound_below(cursor: CursorWrapper, parted: PartitionedTable, month: date, bound: str) -> None:
    part = parted.part(month)
    cursor.execute(f"ALTER TABLE {parted.table} DETACH PARTITION {part}")
    limits = f"FROM ({bound}) TO ('{begins(after(month))}')"
    cursor.execute(f"ALTER TABLE {parted.table} ATTACH PARTITION {part} FOR VALUES {limits}")
