"""What is to be reached: ratios of medians of one run, for what a machine can do changes from hour to hour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.benchmark.figures import Spread

# The name of who was measured, and the measure.
Median = tuple[str, str]
# Of all programs, while ten times as many charges wait for their provider.
MANY_CONNECTIONS = 40


@dataclass(frozen=True)
class Goal:
    """The median `above` over the one `below`, or alone, is to be at least, or at most, `bound`, and best `aim`."""

    text: str
    above: Median
    below: Median | None
    bound: float
    at_most: bool = False
    aim: float | None = None

    def is_reached_by(self, ratio: float) -> bool:
        return ratio <= self.bound if self.at_most else ratio >= self.bound


GOALS = (
    Goal("charges per second, of two_tx", ("charges", "per_second"), ("two_tx", "per_second"), 0.30, aim=0.42),
    Goal(
        "server CPU of a charge, of the plain view's",
        ("charges", "server_cpu_ms"),
        ("charges/plain", "server_cpu_ms"),
        bound=6,
        at_most=True,
        aim=5,
    ),
    Goal(
        "PostgreSQL CPU of a charge, of two_tx's",
        ("charges", "postgres_cpu_ms"),
        ("two_tx", "postgres_cpu_ms"),
        bound=1.3,
        at_most=True,
    ),
    Goal("p99 of a charge, of its p50", ("charges", "p99_ms"), ("charges", "p50_ms"), bound=4, at_most=True),
    Goal("sources per second, of the insert", ("sources", "per_second"), ("insert", "per_second"), bound=0.15),
    Goal(
        "charges per second with callbacks, of those without",
        ("callbacks", "per_second"),
        ("charges", "per_second"),
        bound=0.75,
    ),
    Goal(
        "server CPU of a list, of ORM and ModelSerializer's",
        ("list", "server_cpu_ms"),
        ("list/usual", "server_cpu_ms"),
        bound=0.3,
        at_most=True,
    ),
    Goal("charges per second, of localstripe's", ("charges", "per_second"), ("localstripe", "per_second"), bound=12),
    Goal(
        "charges per second, of localstripe's with 1,600 stored",
        ("charges", "per_second"),
        ("localstripe/full", "per_second"),
        bound=40,
    ),
    Goal(
        "charges per second among seeded ones, of an empty database's",
        ("charges", "per_second"),
        ("charges/empty", "per_second"),
        bound=0.9,
    ),
    *(
        Goal(f"p50 of {what}, of an empty database's", (name, "p50_ms"), ("list/empty", "p50_ms"), 1.5, at_most=True)
        for name, what in (
            ("list", "the newest page"),
            ("middle", "a page in the middle"),
            ("last", "the last page"),
            ("quiet", "a page of the quiet merchant"),
        )
    ),
    Goal("p99 of a charge, provider 1 s, in ms", ("slow", "p99_ms"), None, bound=1300, at_most=True),
    Goal("memory of a web process then, in MB", ("slow", "memory_mb"), None, bound=250, at_most=True),
    Goal("connections to the database then", ("slow", "connections"), None, bound=MANY_CONNECTIONS, at_most=True),
    *(
        Goal(f"p99 of {what} then, of otherwise", (f"slow/{name}", "p99_ms"), (f"slow/quiet_{name}", "p99_ms"), 2, True)
        for name, what in (("list", "a list"), ("ping", "GET /ping"))
    ),
)


@dataclass(frozen=True)
class Reached:
    """A goal, and the ratio that a run came to."""

    goal: Goal
    ratio: float

    @property
    def is_enough(self) -> bool:
        return self.goal.is_reached_by(self.ratio)


def reached(figures: Mapping[str, Mapping[str, Spread]]) -> Sequence[Reached]:
    """What became of each goal for which everything was measured."""
    measured = [goal for goal in GOALS if all(which[0] in figures for which in (goal.above, goal.below) if which)]
    return [Reached(goal, _median(figures, goal.above) / _median(figures, goal.below)) for goal in measured]


def _median(figures: Mapping[str, Mapping[str, Spread]], which: Median | None) -> float:
    if which is None:
        return 1
    name, measure = which
    return figures[name][measure].median
