"""What is to be reached: ratios of medians of one run, for what a machine can do changes from hour to hour."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.benchmark.figures import Spread

Medians = Mapping[str, Mapping[str, Spread]]


@dataclass(frozen=True)
class Goal:
    """The median `above` over the one `below`, or alone, is to be `at_least` or `at_most` so much, and best `aim`.

    A median is named by the part, or what stands beside it, and the measure.
    """

    text: str
    above: str
    below: str = ""
    at_least: float | None = None
    at_most: float | None = None
    aim: float | None = None

    def is_reached_by(self, ratio: float) -> bool:
        is_enough = self.at_least is None or ratio >= self.at_least
        return is_enough and (self.at_most is None or ratio <= self.at_most)

    def ratio(self, figures: Medians) -> float | None:
        """Return what a run came to, or None where not everything was measured."""
        medians = []
        for name, _, measure in (which.rpartition(".") for which in (self.above, self.below) if which):
            if name not in figures:
                return None
            medians.append(figures[name][measure].median)
        return medians[0] / medians[1] if self.below else medians[0]


CHARGES = "charges.per_second"
GOALS = (
    Goal("charges per second, of two_tx", CHARGES, "two_tx.per_second", at_least=0.30, aim=0.42),
    Goal(
        "server CPU of a charge, of the plain view's",
        "charges.server_cpu_ms",
        "charges/plain.server_cpu_ms",
        at_most=6,
        aim=5,
    ),
    Goal("PostgreSQL CPU of a charge, of two_tx's", "charges.postgres_cpu_ms", "two_tx.postgres_cpu_ms", at_most=1.3),
    Goal("p99 of a charge, of its p50", "charges.p99_ms", "charges.p50_ms", at_most=4),
    Goal("sources per second, of the insert", "sources.per_second", "insert.per_second", at_least=0.15),
    Goal("charges per second with callbacks, of those without", "callbacks.per_second", CHARGES, at_least=0.75),
    Goal(
        "server CPU of a list, of ORM and ModelSerializer's",
        "list.server_cpu_ms",
        "list/usual.server_cpu_ms",
        at_most=0.3,
    ),
    Goal("charges per second, of localstripe's", CHARGES, "localstripe.per_second", at_least=12),
    Goal("charges per second, of localstripe's with 1,600 stored", CHARGES, "localstripe/full.per_second", at_least=40),
    Goal(
        "charges per second among seeded ones, of an empty database's",
        CHARGES,
        "charges/empty.per_second",
        at_least=0.9,
    ),
    Goal("p50 of the newest page, of an empty database's", "list.p50_ms", "list/empty.p50_ms", at_most=1.5),
    Goal("p50 of a page in the middle, of an empty database's", "middle.p50_ms", "list/empty.p50_ms", at_most=1.5),
    Goal("p50 of the last page, of an empty database's", "last.p50_ms", "list/empty.p50_ms", at_most=1.5),
    Goal(
        "p50 of a page of the quiet merchant, of an empty database's", "quiet.p50_ms", "list/empty.p50_ms", at_most=1.5
    ),
    Goal("p99 of a charge, provider 1 s, in ms", "slow.p99_ms", at_most=1300),
    Goal("memory of a web process then, in MB", "slow.memory_mb", at_most=250),
    # Of all programs, while ten times as many charges wait for their provider.
    Goal("connections to the database then", "slow.connections", at_most=40),
    Goal("p99 of a list then, of otherwise", "slow/list.p99_ms", "slow/quiet_list.p99_ms", at_most=2),
    Goal("p99 of GET /ping then, of otherwise", "slow/ping.p99_ms", "slow/quiet_ping.p99_ms", at_most=2),
)


def reached(figures: Medians) -> list[tuple[Goal, float]]:
    """Return each goal for which everything was measured, with the ratio that a run came to."""
    ratios = [(goal, goal.ratio(figures)) for goal in GOALS]
    return [(goal, ratio) for goal, ratio in ratios if ratio is not None]
