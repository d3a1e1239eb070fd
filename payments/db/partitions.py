"""Tables partitioned by month (UTC) of their IDs, so that old months are dropped and not deleted row by row.

A partition is named by its month, `payments_event_2026_11`; the first one holds everything older too. There is no
default partition, because PostgreSQL would search it whenever a partition is added. These tables have no foreign keys
in either direction, because to drop a month would lock the tables at the other end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from payments.ids import first_id

AHEAD = 3
# A session that waits for a lock blocks all that come later, so a step gives up soon and is tried again later.
STEP = "SET LOCAL lock_timeout = '500ms'; SELECT pg_advisory_xact_lock(hashtext('payments months'))"
PARTS = """
SELECT part.relname FROM pg_inherits JOIN pg_class part ON part.oid = inhrelid
JOIN pg_class whole ON whole.oid = inhparent AND whole.relkind = 'p'
WHERE inhparent = to_regclass(%s) ORDER BY part.relname
"""
# A partitioned table cannot pass these on to its partitions; migrations/sql/vacuum.sql says what they are for.
CLEANED_OFTEN = ", ".join(
    (
        "autovacuum_vacuum_scale_factor = 0.02",
        "autovacuum_vacuum_insert_scale_factor = 0.05",
        "autovacuum_analyze_scale_factor = 0.02",
        "autovacuum_vacuum_cost_limit = 1000",
    )
)


@dataclass(frozen=True)
class PartitionedTable:
    """A table that is partitioned by its column `key`.

    Columns in `once` are unique within a partition only: a unique index of the whole table must contain the key.
    """

    table: str
    key: str
    once: str = ""

    def part(self, month: date) -> str:
        return f"{self.table}_{month:%Y_%m}"

    def index(self, part: str) -> str:
        """Return the name of the unique index of a partition."""
        return f"{part}_{self.once.replace(', ', '_')}_key"

    def months(self, cursor: CursorWrapper) -> list[date]:
        """Return the months that have a partition, oldest first; none while the table does not exist."""
        cursor.execute(PARTS, [self.table])
        return [date.fromisoformat(f"{name[-7:].replace('_', '-')}-01") for (name,) in cursor.fetchall()]


# An event is written in one statement with its object, whose version makes the sequence unique across months.
EVENTS = PartitionedTable("payments_event", "id", "object_id, sequence")
# Its ID is that of its event, which the primary key makes unique across months.
WEBHOOKS = PartitionedTable("payments_webhook", "id", "event_id")
TRIES = PartitionedTable("payments_webhookattempt", "webhook_id")
# In the order in which months are dropped: while there is a webhook, there is its event.
ALL = (WEBHOOKS, TRIES, EVENTS)


def month_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date().replace(day=1)


def after(month: date, count: int = 1) -> date:
    """Return the first day of the month that is `count` months later."""
    years, number = divmod(month.month - 1 + count, 12)
    return date(month.year + years, number + 1, 1)


def begins(month: date) -> str:
    """Return the lowest ID of a month."""
    return str(first_id(datetime.combine(month, time(), UTC)))


@contextmanager
def step() -> Iterator[CursorWrapper]:
    """Open a short transaction that one process has at a time; raise OperationalError if a lock is in use."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in STEP.split("; "):
            cursor.execute(statement)
        yield cursor


def make_ahead(now: datetime) -> int:
    """Add the missing partitions up to `AHEAD` months after `now`; return how many were added."""
    last, count = after(month_of(now), AHEAD), 0
    for parted in ALL:
        while _make_next(parted, last):
            count += 1
    return count


def _make_next(parted: PartitionedTable, last: date) -> bool:
    with step() as cursor:
        months = parted.months(cursor)
        if not months or months[-1] >= last:
            return False
        make(cursor, parted, after(months[-1]))
    return True


def make(cursor: CursorWrapper, parted: PartitionedTable, month: date, *, first: bool = False) -> None:
    """Add the partition of a month; the first one takes everything older too.

    It is created as a table and then attached: CREATE TABLE … PARTITION OF would block all who read the table.
    """
    part = parted.part(month)
    cursor.execute(f"CREATE TABLE {part} (LIKE {parted.table} INCLUDING CONSTRAINTS) WITH ({CLEANED_OFTEN})")
    if parted.once:
        cursor.execute(f"CREATE UNIQUE INDEX {parted.index(part)} ON {part} ({parted.once})")
    lowest = "MINVALUE" if first else f"'{begins(month)}'"
    bounds = f"FROM ({lowest}) TO ('{begins(after(month))}')"
    cursor.execute(f"ALTER TABLE {parted.table} ATTACH PARTITION {part} FOR VALUES {bounds}")
