"""One stretch of load, and what it cost."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from tests.benchmark.figures import Figures, Stretch, percentile
from tests.benchmark.processes import cpu_seconds

AnyStretch = TypeVar("AnyStretch", bound=Stretch)
MS = 1000


def measured(run: Callable[[], AnyStretch], pids: Mapping[str, int]) -> tuple[AnyStretch, Figures]:
    """What `run` returns, and its figures; `pids` are those of `server` and `postgres`, as far as they take part."""
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    stretch = run()
    spent = {name: cpu_seconds(pid) - before[name] for name, pid in pids.items()}
    return stretch, Figures(
        per_second=stretch.count / stretch.seconds,
        p50_ms=MS * percentile(stretch.latencies_seconds, 50),
        p99_ms=MS * percentile(stretch.latencies_seconds, 99),
        **{f"{name}_cpu_ms": MS * seconds / stretch.count for name, seconds in spent.items()},
    )
