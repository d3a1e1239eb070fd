"""When an outcome is looked up, and when money is settled."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from payments import clock

LOOKUP_DELAYS_SECONDS = (5, 30, 120, 600, 3600)
# 10 minutes, an hour and a day after an attempt was given up.
SECOND_LOOK_DELAYS_SECONDS = (600, 3000, 82_800)


def next_lookup_at(tries: int) -> datetime:
    """The moment of the lookup that follows `tries` lookups: soon at first, hourly in the end."""
    return _after(LOOKUP_DELAYS_SECONDS, tries)


def next_second_look_at(tries: int) -> datetime:
    """The moment at which an attempt that was given up is looked up again, after `tries` such lookups."""
    return _after(SECOND_LOOK_DELAYS_SECONDS, tries)


def _after(delays_seconds: Sequence[int], tries: int) -> datetime:
    delay = delays_seconds[min(tries, len(delays_seconds) - 1)]
    return clock.now() + timedelta(seconds=delay)


def next_settlement_at() -> datetime:
    """The end of the present day in UTC, when what moved on it is settled."""
    now = clock.now()
    return datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
