"""When an unknown outcome is looked up."""

from datetime import datetime, timedelta

from payments import clock

LOOKUP_DELAYS_SECONDS = (5, 30, 120, 600, 3600)


def next_lookup_at(tries: int) -> datetime:
    """The moment of the lookup that follows `tries` lookups: soon at first, hourly in the end."""
    delay = LOOKUP_DELAYS_SECONDS[min(tries, len(LOOKUP_DELAYS_SECONDS) - 1)]
    return clock.now() + timedelta(seconds=delay)
