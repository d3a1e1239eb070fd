"""When an unknown outcome is looked up at its provider."""

from collections.abc import Sequence
from datetime import datetime, timedelta

LOOKUP_DELAYS_SECONDS = (5, 30, 120, 600, 3600)
# 10 minutes, an hour and a day after an attempt was given up.
SECOND_LOOK_DELAYS_SECONDS = (600, 3000, 82_800)


def next_lookup_at(now: datetime, tries: int) -> datetime:
    """Return the moment of the lookup that follows `tries` lookups: soon at first, hourly in the end."""
    return _after(now, LOOKUP_DELAYS_SECONDS, tries)


def next_second_look_at(now: datetime, tries: int) -> datetime:
    """Return the moment at which an attempt that was given up is looked up again, after `tries` such lookups."""
    return _after(now, SECOND_LOOK_DELAYS_SECONDS, tries)


def _after(now: datetime, delays_seconds: Sequence[int], tries: int) -> datetime:
    return now + timedelta(seconds=delays_seconds[min(tries, len(delays_seconds) - 1)])
