"""When the charges of a year or less are made: a business that grows, with paydays, weekends and evenings."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import accumulate
from random import Random
from zoneinfo import ZoneInfo

MANILA = ZoneInfo("Asia/Manila")
YEAR = timedelta(days=365)
HOUR = timedelta(hours=1)
GROWTH = 2.0
# From Monday on, and from midnight on.
WEEKDAYS = (0.9, 0.85, 0.9, 0.95, 1.15, 1.3, 1.1)
HOURS = (3, 2, 1, 1, 1, 2, 4, 6, 8, 10, 12, 14, 15, 13, 11, 11, 12, 13, 15, 17, 18, 15, 10, 6)
PAYDAYS = {15: 1.6, 16: 1.4, 30: 1.6, 31: 1.6, 1: 1.3}
CHRISTMAS = 1.35


def moments(count: int, start: datetime, end: datetime, rng: Random) -> Iterator[datetime]:
    """Yield `count` moments from `start` to `end`, whole hours apart, in their order."""
    hours = [start + number * HOUR for number in range((end - start) // HOUR)]
    sums = list(accumulate(_weight(hour, start) for hour in hours))
    done = 0
    for hour, so_far in zip(hours, sums, strict=True):
        upto = round(count * so_far / sums[-1])
        yield from sorted(hour + rng.random() * HOUR for _ in range(upto - done))
        done = upto


def _weight(hour: datetime, start: datetime) -> float:
    local = hour.astimezone(MANILA)
    growth = 1 + (GROWTH - 1) * ((hour - start) / YEAR)
    season = CHRISTMAS if local.month == 12 else 1.0
    return growth * season * WEEKDAYS[local.weekday()] * HOURS[local.hour] * PAYDAYS.get(local.day, 1.0)
