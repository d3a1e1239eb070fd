"""Days (UTC) as ranges of IDs: an ID contains the time of its creation, and has an index."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from payments import clock
from payments.ids import first_id

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Days:
    """The days from `first` to `last`, both included."""

    first: date
    last: date

    @classmethod
    def until_today(cls, count: int) -> "Days":
        today = clock.now().date()
        return cls(today - (count - 1) * DAY, today)

    def __iter__(self) -> Any:
        return (self.first + number * DAY for number in range((self.last - self.first).days + 1))

    @property
    def before(self) -> "Days":
        """Return as many days, which end where these begin."""
        return Days(self.first - (self.last - self.first) - DAY, self.first - DAY)

    @property
    def first_id(self) -> UUID:
        return _first_id(self.first)

    @property
    def next_id(self) -> UUID:
        """Return the lowest ID of the day after the last."""
        return _first_id(self.last + DAY)

    @property
    def first_ids(self) -> Sequence[UUID]:
        """Return the lowest ID of each day."""
        return [_first_id(day) for day in self]


def _first_id(day: date) -> UUID:
    return first_id(datetime.combine(day, time(), UTC))
