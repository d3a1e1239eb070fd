"""Tables that lie in parts, one for each month (UTC) of the IDs in them, so that a month is dropped without a search.

A part is named by its month, `payments_event_2026_11`, and the first one holds all that is older too. There is no part
for whatever fits nowhere: it would have to be searched whenever another is made. No foreign key leads to these tables
or from them, for to drop a month would then lock the tables at the other end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from payments.ids import first_id

AHEAD = 3
# Whoever waits for a lock has everybody wait who comes after, so a step gives up soon and is tried again later.
STEP = "SET LOCAL lock_timeout = '500ms'; SELECT pg_advisory_xact_lock(hashtext('payments months'))"
PARTS = """
SELECT part.relname FROM pg_inherits JOIN pg_class part ON part.oid = inhrelid
JOIN pg_class whole ON whole.oid = inhparent AND whole.relkind = 'p'
WHERE inhparent = to_regclass(%s) ORDER BY part.relname
"""
# A whole cannot have these for its parts; what they are about stands in migrations/sql/vacuum.sql.
CLEANED_OFTEN = ", ".join(
    (
        "autovacuum_vacuum_scale_factor = 0.02",
        "autovacuum_vacuum_insert_scale_factor = 0.05",
        "autovacuum_analyze_scale_factor = 0.02",
        "autovacuum_vacuum_cost_limit = 1000",
    )
)


@dataclass(frozen=True)
class Parted:
    """A table in parts by its column `key`. What is unique by `once` is so within a part alone: an index of the whole
    would have to begin with the key."""

    table: str
    key: str
    once: str = ""

    def part(self, month: date) -> str:
        return f"{self.table}_{month:%Y_%m}"

    def index(self, part: str) -> str:
        """The name of the index of a part that keeps `once`."""
        return f"{part}_{self.once.replace(', ', '_')}_key"

    def months(self, cursor: CursorWrapper) -> list[date]:
        """The months that there are parts for, from the oldest on; none where the table is not there yet."""
        cursor.execute(PARTS, [self.table])
        return [date.fromisoformat(f"{name[-7:].replace('_', '-')}-01") for (name,) in cursor.fetchall()]


# The event's row is changed in one statement with the object's, whose version keeps its sequence once for ever.
EVENTS = Parted("payments_event", "id", "object_id, sequence")
# Under the ID of its event, which the key keeps once for ever.
WEBHOOKS = Parted("payments_webhook", "id", "event_id")
TRIES = Parted("payments_notificationtry", "webhook_id")
# What tells of something goes before it: whoever finds a webhook finds its event.
ALL = (WEBHOOKS, TRIES, EVENTS)


def month_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date().replace(day=1)


def after(month: date, count: int = 1) -> date:
    """The month `count` months later."""
    years, number = divmod(month.month - 1 + count, 12)
    return date(month.year + years, number + 1, 1)


def begins(month: date) -> str:
    """The lowest ID of a month."""
    return str(first_id(datetime.combine(month, time(), UTC)))


@contextmanager
def step() -> Iterator[CursorWrapper]:
    """A short transaction, which only one process does at a time; raises OperationalError where a lock is in use."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in STEP.split("; "):
            cursor.execute(statement)
        yield cursor


def make_ahead(now: datetime) -> int:
    """Makes the months that are missing up to `AHEAD` after that of `now`; returns how many parts were made."""
    return sum(_make_up_to(parted, after(month_of(now), AHEAD)) for parted in ALL)


def _make_up_to(parted: Parted, last: date) -> int:
    count = 0
    while _make_next(parted, last):
        count += 1
    return count


def _make_next(parted: Parted, last: date) -> bool:
    with step() as cursor:
        months = parted.months(cursor)
        if not months or months[-1] >= last:
            return False
        make(cursor, parted, after(months[-1]))
    return True


def make(cursor: CursorWrapper, parted: Parted, month: date, *, first: bool = False) -> None:
    """Make a month, the first one with all that is older.

    It is made alone and then attached: what is made as a part locks out everybody who reads the whole.
    """
    part = parted.part(month)
    cursor.execute(f"CREATE TABLE {part} (LIKE {parted.table} INCLUDING CONSTRAINTS) WITH ({CLEANED_OFTEN})")
    if parted.once:
        cursor.execute(f"CREATE UNIQUE INDEX {parted.index(part)} ON {part} ({parted.once})")
    lowest = "MINVALUE" if first else f"'{begins(month)}'"
    bounds = f"FROM ({lowest}) TO ('{begins(after(month))}')"
    cursor.execute(f"ALTER TABLE {parted.table} ATTACH PARTITION {part} FOR VALUES {bounds}")
