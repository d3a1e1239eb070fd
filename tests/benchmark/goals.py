"""What is to be reached: ratios within one round, because what a machine can do changes from minute to minute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tests.benchmark.figures import Figures

# What was measured, by its name: in each round once.
Rounds = Mapping[str, Sequence[Figures]]
RATE, P50, P99, SERVER_CPU = "per_second", "p50_ms", "p99_ms", "server_cpu_ms"
CPU = "server_cpu_ms + postgres_cpu_ms"


@dataclass(frozen=True)
class Goal:
    """The `measure` of `above` over that of `below`, or alone, is to be `at_least` or `at_most` so much.

    Of several names or measures, joined by " + ", the sum. `aim` is better still. Where the two are of other measures,
    `measure_below` is that of `below`.
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

    def ratio(self, rounds: Rounds) -> float | None:
        """Return the median of all rounds, or None where not everything was measured."""
        above = _sums(rounds, self.above, self.measure)
        below = _sums(rounds, self.below, self.measure_below or self.measure) if self.below else [1] * len(above)
        return median(one / other for one, other in zip(above, below, strict=True)) if above and below else None


def _sums(rounds: Rounds, names: str, measures: str) -> Sequence[float]:
    """Return the sum over these names and measures in each round; none where not everything was measured."""
    parts = names.split(" + ")
    if not rounds.keys() >= set(parts):
        return []
    together = zip(*(rounds[name] for name in parts), strict=True)
    return [sum(getattr(one, name) for one in each for name in measures.split(" + ")) for each in together]


GOALS = (
    Goal("charges per second, of a company's textbook", RATE, "charges", "charges/company", at_least=2.7, aim=3),
    Goal("CPU of a charge, of a company's textbook", CPU, "charges", "charges/company", at_most=0.38, aim=0.33),
    Goal("pages of a list per second, of a company's textbook", RATE, "list", "list/company", at_least=3, aim=4),
    Goal("server CPU of a charge, of the plain view's", SERVER_CPU, "charges", "charges/plain", at_most=15),
    Goal("p99 of a charge, of its p50", P99, "charges", "charges", P50, at_most=4),
    Goal("charges per second with callbacks, of those without", RATE, "callbacks", "charges", at_least=0.85, aim=0.95),
    Goal("charges per second among seeded, of an empty database's", RATE, "charges", "charges/empty", at_least=0.95),
    Goal("p50 of the newest page, of an empty database's", P50, "list", "list/empty", at_most=1.5),
    Goal("p50 of a page in the middle, of an empty database's", P50, "middle", "list/empty", at_most=1.5),
    Goal("p50 of the last page, of an empty database's", P50, "last", "list/empty", at_most=1.5),
    Goal("p50 of a page of the quiet merchant, of an empty database's", P50, "quiet", "list/empty", at_most=1.5),
    Goal("p99 of a charge, provider 1 s, in ms", P99, "slow", at_most=1300),
    Goal("memory of a web process then, in MB", "memory_mb", "slow", at_most=250),
    # Of all programs, while ten times as many charges wait for their provider.
    Goal("connections to the database then", "connections", "slow", at_most=40),
    Goal("p99 of a list then, of otherwise", P99, "slow/list", "slow/quiet_list", at_most=3, aim=2),
    Goal("p99 of GET /ping then, of otherwise", P99, "slow/ping", "slow/quiet_ping", at_most=3, aim=2),
)


def reached(rounds: Rounds) -> list[tuple[Goal, float]]:
    """Return each goal for which everything was measured, with the ratio that a run came to."""
    ratios = [(goal, goal.ratio(rounds)) for goal in GOALS]
    return [(goal, ratio) for goal, ratio in ratios if ratio is not None]
