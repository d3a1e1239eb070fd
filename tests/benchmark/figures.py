"""Figures: what one stretch of load came to, and what several came to together."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import ceil
from statistics import median


@dataclass(frozen=True)
class Stretch:
    """A stretch of load: how long it was, and how long each request took."""

    seconds: float
    latencies_seconds: Sequence[float]

    @property
    def count(self) -> int:
        return len(self.latencies_seconds)


@dataclass(frozen=True)
class Figures:
    """What a stretch came to; CPU is per request, and None where a web server or PostgreSQL had no part in it.

    `memory_mb` is of the largest web process, and `connections` are those to the database.
    """

    per_second: float
    p50_ms: float
    p99_ms: float
    server_cpu_ms: float | None = None
    postgres_cpu_ms: float | None = None
    memory_mb: float | None = None
    connections: float | None = None


MEASURES = [field.name for field in fields(Figures)]


@dataclass(frozen=True)
class Spread:
    """What several rounds came to."""

    median: float
    minimum: float
    maximum: float


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest of `values` that so many percent of them do not exceed."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]


def spreads(rounds: Sequence[Figures]) -> dict[str, Spread]:
    """Each measure over all rounds, but for those that were not taken."""
    columns = {name: [getattr(figures, name) for figures in rounds] for name in MEASURES}
    taken = {name: column for name, column in columns.items() if None not in column}
    return {name: Spread(median(column), min(column), max(column)) for name, column in taken.items()}
