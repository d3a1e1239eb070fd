"""How far back a worker looks for what is due, for to look through every month at each claim costs more with each."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from payments.db.scoped_queryset import FIRST_ID, LAST_ID
from payments.ids import first_id

# What is on its schedule is over after three days; only what was sent again by hand, or had no worker, is older.
RECENT = timedelta(days=4)
# Events from a process whose clock is ahead by more wait for the search of all months.
CLOCKS_APART = timedelta(days=1)
LOOK_BACK_EVERY = timedelta(minutes=1)


class Span(NamedTuple):
    """IDs of webhooks, which are those of their events: from `since` on and below `until`."""

    since: UUID
    until: UUID


EVERYTHING = Span(FIRST_ID, LAST_ID)


def recent(now: datetime) -> Span:
    """Return the span of IDs that may be on schedule at `now`; it covers one month or two."""
    return Span(first_id(now - RECENT), first_id(now + CLOCKS_APART))


class ScanWindow:
    """Recent webhooks are looked for at any time, all of them once a minute, and for a minute after one of the
    older was found: so of many that were sent again none waits for the next minute, and each is tried on its schedule.
    """

    def __init__(self) -> None:
        self._look_back_at = self._found_until = datetime.min.replace(tzinfo=UTC)

    def at(self, now: datetime) -> Span:
        """Where to look."""
        return EVERYTHING if now >= self._look_back_at or now < self._found_until else recent(now)

    def looked(self, span: Span, now: datetime, found: Iterable[UUID] = ()) -> None:
        """Record that the due webhooks in `span` at `now` were claimed: `found`."""
        if span != EVERYTHING:
            return
        self._look_back_at = now + LOOK_BACK_EVERY
        usual = recent(now)
        if any(not usual.since <= uuid < usual.until for uuid in found):
            self._found_until = now + LOOK_BACK_EVERY
