"""Partitions created ahead and dropped later: months of events, webhooks and their tries, days of the request log."""

import logging
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.backends.utils import CursorWrapper
from psycopg.errors import LockNotAvailable

from payments import clock
from payments.db.partitions import ALL, EVENTS, REQUESTS, TRIES, WEBHOOKS, PartitionedTable, after, make, month_of, step

logger = logging.getLogger("kaha.months")

MONTHS_AHEAD = 3
DAYS_AHEAD = 7
REQUESTS_KEEP_DAYS = 30

# Detached partitions that are not dropped yet, as a process leaves them that dies between the two steps.
LEFT_OVER = """
SELECT relname FROM pg_class
WHERE relkind = 'r' AND NOT relispartition AND pg_table_is_visible(oid) AND relname ~ %s AND relname < %s
"""


def maintain() -> int:
    """Create the coming partitions and drop the expired ones; return how many were created or dropped.

    A step that cannot get its lock at once is left to the next run, with all steps after it.
    """
    now = clock.now()
    try:
        count = make_ahead(now) + drop_before(month_of(now - timedelta(days=settings.EVENTS_KEEP_DAYS)))
        requests_begin = (now - timedelta(days=REQUESTS_KEEP_DAYS)).date()
        _detach_before(REQUESTS, requests_begin)
        return count + _drop_left_over(REQUESTS, requests_begin)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        logger.warning("a partition could not be created or dropped, because its table is in use")
        return 0


def make_ahead(now: datetime) -> int:
    """Add the missing partitions up to MONTHS_AHEAD or DAYS_AHEAD after `now`; return how many were added."""
    months = sum(_make_up_to(parted, after(month_of(now), MONTHS_AHEAD)) for parted in ALL)
    return months + _make_up_to(REQUESTS, (now + timedelta(days=DAYS_AHEAD)).date())


def _make_up_to(parted: PartitionedTable, last: date) -> int:
    count = 0
    while True:
        with step() as cursor:
            starts = parted.starts(cursor)
            if not starts or starts[-1] >= last:
                return count
            make(cursor, parted, parted.next(starts[-1]))
        count += 1


def drop_before(month: date) -> int:
    """Drop the months before `month`, up to the first with a webhook that is still due; return how many.

    Detaching and dropping are separate transactions, because a drop deletes files before it releases its locks.
    """
    month = _detach_before(WEBHOOKS, month)
    _detach_before(TRIES, month)
    _detach_before(EVENTS, month)
    return sum(_drop_left_over(parted, month) for parted in ALL)


def _detach_before(parted: PartitionedTable, month: date) -> date:
    """Detach the partitions of the months before `month`; return the first month that stays."""
    while True:
        with step() as cursor:
            oldest = parted.starts(cursor)[0]
            if oldest >= month or not _detach(cursor, parted, oldest):
                return min(oldest, month)


def _detach(cursor: CursorWrapper, parted: PartitionedTable, month: date) -> bool:
    """Detach one partition; return False, with nothing changed, where a webhook of it is still due."""
    part = parted.part(month)
    if parted is WEBHOOKS and _has_due_rows(cursor, part):
        return False
    cursor.execute(f"ALTER TABLE {parted.table} DETACH PARTITION {part}")
    # An operator may have sent one again meanwhile; a detached partition cannot change any more.
    if parted is WEBHOOKS and _has_due_rows(cursor, part):
        transaction.set_rollback(True)
        return False
    return True


def _has_due_rows(cursor: CursorWrapper, part: str) -> bool:
    cursor.execute(f"SELECT EXISTS (SELECT FROM {part} WHERE due_at IS NOT NULL)")  # nosec B608 # a table's own name
    return bool(cursor.fetchone()[0])


def _drop_left_over(parted: PartitionedTable, month: date) -> int:
    count = 0
    while True:
        with step() as cursor:
            cursor.execute(LEFT_OVER, [f"^{parted.table}_[0-9]{{4}}(_[0-9]{{2}})+$", parted.part(month)])
            found = cursor.fetchone()
            if not found:
                return count
            cursor.execute(f"DROP TABLE {found[0]}")
            count += 1
