"""What is to be reached: ratios of medians of one run, because what a machine can do changes from hour to hour."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.benchmark.figures import Spread

Medians = Mapping[str, Mapping[str, Spread]]
RATE, P50, P99, SERVER_CPU = "per_second", "p50_ms", "p99_ms", "server_cpu_ms"


@dataclass(frozen=True)
class Goal:
    """The median `measure` of `above` over that of `below`, or alone, is to be `at_least` or `at_most` so much.

    Of several names, joined by " + ", the sum of their medians. `aim` is better still. Where the two are of other
    measures, `measure_below` is that of `below`.
    """

    text: str
    measure: str
    above: str
    below: str = ""
    measure_below: str = ""
    at_least: float | None = None
    at_most: float | None = None
    aim: float | None = None

    def is_reached_by(self, ratio: float) -> bool:
        is_enough = self.at_least is None or ratio >= self.at_least
        return is_enough and (self.at_most is None or ratio <= self.at_most)

    def ratio(self, figures: Medians) -> float | None:
        """Return what a run came to, or None where not everything was measured."""
        above = _sum(figures, self.above, self.measure)
        below = _sum(figures, self.below, self.measure_below or self.measure) if self.below else 1
        return above / below if above and below else None


def _sum(figures: Medians, names: str, measure: str) -> float | None:
    """Return the sum of the medians of these names; None where not everything was measured."""
    parts = names.split(" + ")
    return sum(figures[name][measure].median for name in parts) if figures.keys() >= set(parts) else None


GOALS = (
    Goal("charges per second, of two_tx", RATE, "charges", "two_tx", at_least=0.30, aim=0.42),
    Goal("server CPU of a charge, of the plain view's", SERVER_CPU, "charges", "charges/plain", at_most=6, aim=5),
    Goal("PostgreSQL CPU of a charge, of two_tx's", "postgres_cpu_ms", "charges", "two_tx", at_most=1.3),
    Goal("p99 of a charge, of its p50", P99, "charges", "charges", P50, at_most=4),
    Goal("sources per second, of the insert", RATE, "sources", "insert", at_least=0.15),
    Goal("p50 of a session, of a source's", P50, "sessions", "sources", at_most=1.2),
    Goal(
        "p50 of a paid session, of a charge with its source", P50, "sessions + paid", "sources + charges", at_most=1.5
    ),
    Goal("charges per second with callbacks, of those without", RATE, "callbacks", "charges", at_least=0.75),
    Goal("server CPU of a list, of ORM and ModelSerializer's", SERVER_CPU, "list", "list/usual", at_most=0.3),
    Goal("charges per second, of localstripe's", RATE, "charges", "localstripe", at_least=12),
    Goal("charges per second, of localstripe's with 1,600 stored", RATE, "charges", "localstripe/full", at_least=40),
    Goal(
        "charges per second among seeded ones, of an empty database's", RATE, "charges", "charges/empty", at_least=0.9
    ),
    Goal("p50 of the newest page, of an empty database's", P50, "list", "list/empty", at_most=1.5),
    Goal("p50 of a page in the middle, of an empty database's", P50, "middle", "list/empty", at_most=1.5),
    Goal("p50 of the last page, of an empty database's", P50, "last", "list/empty", at_most=1.5),
    Goal("p50 of a page of the quiet merchant, of an empty database's", P50, "quiet", "list/empty", at_most=1.5),
    Goal("p99 of a charge, provider 1 s, in ms", P99, "slow", at_most=1300),
    Goal("memory of a web process then, in MB", "memory_mb", "slow", at_most=250),
    # Of all programs, while ten times as many charges wait for their provider.
    Goal("connections to the database then", "connections", "slow", at_most=40),
    Goal("p99 of a list then, of otherwise", P99, "slow/list", "slow/quiet_list", at_most=2),
    Goal("p99 of GET /ping then, of otherwise", P99, "slow/ping", "slow/quiet_ping", at_most=2),
)


def reached(figures: Medians) -> list[tuple[Goal, float]]:
    """Return each goal for which everything was measured, with the ratio that a run came to."""
    ratios = [(goal, goal.ratio(figures)) for goal in GOALS]
    return [(goal, ratio) for goal, ratio in ratios if ratio is not None]
