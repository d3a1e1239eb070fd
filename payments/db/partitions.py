"""Tables partitioned by month or day (UTC) of their IDs, so that old partitions are dropped, and no row is deleted.

A partition is named by its month, `payments_event_2026_11`, or its day. The first migration makes the first one, which
holds everything older too. There is no default partition, because PostgreSQL would search it whenever a partition is
added. These tables have no foreign keys in either direction, because to drop a month would lock the tables at the other
end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from payments.ids import first_id

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

    def next(self, month: date) -> date:
        """Return the first day of the partition that follows."""
        return after(month)

    def index(self, part: str) -> str:
        """Return the name of the unique index of a partition."""
        return f"{part}_{self.once.replace(', ', '_')}_key"

    def starts(self, cursor: CursorWrapper) -> list[date]:
        """Return the first days of the partitions, oldest first; none while the table does not exist."""
        cursor.execute(PARTS, [self.table])
        return [self._start_of(name.removeprefix(f"{self.table}_")) for (name,) in cursor.fetchall()]

    def _start_of(self, suffix: str) -> date:
        return date.fromisoformat(f"{suffix.replace('_', '-')}-01")


class DailyTable(PartitionedTable):
    """A table with a partition for each day."""

    def part(self, day: date) -> str:
        return f"{self.table}_{day:%Y_%m_%d}"

    def next(self, day: date) -> date:
        return day + timedelta(days=1)

    def _start_of(self, suffix: str) -> date:
        return date.fromisoformat(suffix.replace("_", "-"))


# An event is written in one statement with its object, whose version makes the sequence unique across months.
EVENTS = PartitionedTable("payments_event", "id", "object_id, sequence, livemode")
# Its ID is made of those of its event and endpoint, which the primary key makes unique across months.
WEBHOOKS = PartitionedTable("payments_webhook", "id", "event_id, endpoint_id")
TRIES = PartitionedTable("payments_webhookattempt", "webhook_id")
REQUESTS = DailyTable("payments_apirequest", "id")
# In the order in which months are dropped: while there is a webhook, there is its event.
ALL = (WEBHOOKS, TRIES, EVENTS)


def month_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date().replace(day=1)


def after(month: date, count: int = 1) -> date:
    """Return the first day of the month that is `count` months later."""
    years, number = divmod(month.month - 1 + count, 12)
    return date(month.year + years, number + 1, 1)


def begins(day: date) -> str:
    """Return the lowest ID of a day."""
    return str(first_id(datetime.combine(day, time(), UTC)))


@contextmanager
def step() -> Iterator[CursorWrapper]:
    """Open a short transaction that one process has at a time; raise OperationalError if a lock is in use."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in STEP.split("; "):
            cursor.execute(statement)
        yield cursor


def make(cursor: CursorWrapper, parted: PartitionedTable, month: date) -> None:
    """Add the partition that begins with `month` (or day).

    It is created as a table and then attached: CREATE TABLE … PARTITION OF would block all who read the table.
    """
    part = parted.part(month)
    cursor.execute(f"CREATE TABLE {part} (LIKE {parted.table} INCLUDING CONSTRAINTS) WITH ({CLEANED_OFTEN})")
    if parted.once:
        cursor.execute(f"CREATE UNIQUE INDEX {parted.index(part)} ON {part} ({parted.once})")
    bounds = f"FROM ('{begins(month)}') TO ('{begins(parted.next(month))}')"
    cursor.execute(f"ALTER TABLE {parted.table} ATTACH PARTITION {part} FOR VALUES {bounds}")
