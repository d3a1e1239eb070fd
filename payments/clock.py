"""The one place that tells the time, so that everything agrees on it."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present moment, timezone-aware, in UTC, to the microsecond."""
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """`moment` (aware) as the API writes it: ISO 8601 in UTC with microseconds, `2026-11-21T01:43:00.123456Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
