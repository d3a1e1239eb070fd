"""What one stretch of load came to and cost, and what several came to together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from math import ceil
from statistics import median

import psutil

MS, MEGABYTE = 1000, 2**20


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
    """Return the smallest of `values` that so many percent of them do not exceed."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]


def spreads(rounds: Sequence[Figures]) -> dict[str, Spread]:
    """Return each measure over all rounds, without those that were not taken."""
    columns = {name: [getattr(figures, name) for figures in rounds] for name in MEASURES}
    taken = {name: column for name, column in columns.items() if None not in column}
    return {name: Spread(median(column), min(column), max(column)) for name, column in taken.items()}


def measured(run: Callable[[], Stretch], pids: Mapping[str, int]) -> Figures:
    """Return the figures of `run`; `pids` are those of `server` and `postgres`, as far as they take part."""
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    stretch = run()
    spent = {name: cpu_seconds(pid) - before[name] for name, pid in pids.items()}
    return Figures(
        per_second=stretch.count / stretch.seconds,
        p50_ms=MS * percentile(stretch.latencies_seconds, 50),
        p99_ms=MS * percentile(stretch.latencies_seconds, 99),
        **{f"{name}_cpu_ms": MS * seconds / stretch.count for name, seconds in spent.items()},
    )


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and of all that it has started, with those that have ended since."""
    # Of these times, the fifth is what the process waited for disks.
    return sum(sum(process.cpu_times()[:4]) for process in _family(pid))


def memory_mb(pid: int) -> float:
    """Return the resident memory of the largest process among it and all that it has started."""
    return max(process.memory_info().rss for process in _family(pid)) / MEGABYTE


def _family(pid: int) -> Iterator[psutil.Process]:
    process = psutil.Process(pid)
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            one.memory_info()
            yield one
