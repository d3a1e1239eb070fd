"""The one place that tells the time, so that everything agrees on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

TICK = timedelta(milliseconds=1)
_told: ContextVar[Iterator[datetime] | None] = ContextVar("kaha_clock", default=None)


def now() -> datetime:
    """The present moment, timezone-aware, in UTC, to the microsecond; inside `at`, the one that it tells."""
    return told() or datetime.now(UTC)


def told() -> datetime | None:
    """The moment that `at` tells, each time a tick later; None outside."""
    moments = _told.get()
    return next(moments) if moments else None


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Has this context, and no other thread, believe that it is `moment`: for whoever writes down a made-up past."""
    token = _told.set(_ticking(moment))
    try:
        yield
    finally:
        _told.reset(token)


def _ticking(moment: datetime) -> Iterator[datetime]:
    while True:
        yield moment
        moment += TICK


def iso(moment: datetime) -> str:
    """`moment` (aware) as the API writes it: ISO 8601 in UTC with microseconds, `2026-11-21T01:43:00.123456Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
