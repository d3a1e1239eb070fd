"""When an unknown outcome is looked up, and when money is settled."""

from datetime import datetime, time, timedelta

from payments import clock

LOOKUP_DELAYS_SECONDS = (5, 30, 120, 600, 3600)


def next_lookup_at(tries: int) -> datetime:
    """The moment of the lookup that follows `tries` lookups: soon at first, hourly in the end."""
    delay = LOOKUP_DELAYS_SECONDS[min(tries, len(LOOKUP_DELAYS_SECONDS) - 1)]
    return clock.now() + timedelta(seconds=delay)


def next_settlement_at() -> datetime:
    """The end of the present day in UTC, when what moved on it is settled."""
    now = clock.now()
    return datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
