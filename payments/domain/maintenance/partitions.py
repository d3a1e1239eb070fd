"""The months of events, webhooks and tries: made ahead, and dropped when their time is over."""

import logging
from datetime import date, timedelta

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.backends.utils import CursorWrapper
from psycopg.errors import LockNotAvailable

from payments import clock
from payments.db.partitions import ALL, EVENTS, TRIES, WEBHOOKS, Parted, make_ahead, month_of, step

logger = logging.getLogger("kaha.months")

# Parts that were detached and are still to be dropped, as they are after whatever died between the two.
LEFT_OVER = """
SELECT relname FROM pg_class
WHERE relkind = 'r' AND NOT relispartition AND pg_table_is_visible(oid) AND relname ~ %s AND relname < %s
"""


def keep() -> int:
    """Makes the months to come and drops those whose time is over; returns how many parts were made or dropped.

    A step whose lock is not to be had at once is left to the next time, with all that would follow it.
    """
    now = clock.now()
    try:
        return make_ahead(now) + drop_before(month_of(now - timedelta(days=settings.EVENTS_KEEP_DAYS)))
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        logger.warning("a month could not be made or dropped now, for its table is in use")
        return 0


def drop_before(month: date) -> int:
    """Drops the months before `month`, up to the first in which a webhook waits; returns how many parts.

    A part is detached in one step and dropped in another, because files are deleted before its locks are let go.
    """
    month = _detach_before(WEBHOOKS, month)
    _detach_before(TRIES, month)
    _detach_before(EVENTS, month)
    return sum(_drop_left_over(parted, month) for parted in ALL)


def _detach_before(parted: Parted, month: date) -> date:
    """Detaches the parts of the months before `month`; returns the first month that stays."""
    while True:
        with step() as cursor:
            oldest = parted.months(cursor)[0]
            if oldest >= month or not _detach(cursor, parted, oldest):
                return min(oldest, month)


def _detach(cursor: CursorWrapper, parted: Parted, month: date) -> bool:
    """False where a webhook waits there, and then nothing has changed."""
    part = parted.part(month)
    if parted is WEBHOOKS and _waits(cursor, part):
        return False
    cursor.execute(f"ALTER TABLE {parted.table} DETACH PARTITION {part}")
    # One may have been sent again meanwhile; from now on none is.
    if parted is WEBHOOKS and _waits(cursor, part):
        transaction.set_rollback(True)
        return False
    return True


def _waits(cursor: CursorWrapper, part: str) -> bool:
    cursor.execute(f"SELECT EXISTS (SELECT FROM {part} WHERE due_at IS NOT NULL)")  # nosec B608 # a name of ours
    return bool(cursor.fetchone()[0])


def _drop_left_over(parted: Parted, month: date) -> int:
    count = 0
    while True:
        with step() as cursor:
            cursor.execute(LEFT_OVER, [f"^{parted.table}_[0-9]{{4}}_[0-9]{{2}}$", parted.part(month)])
            found = cursor.fetchone()
            if not found:
                return count
            cursor.execute(f"DROP TABLE {found[0]}")
            count += 1
