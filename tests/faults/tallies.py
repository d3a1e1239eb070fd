"""What many histories come to."""

from collections import Counter
from dataclasses import dataclass, field

from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from tests.faults.checkouts import CheckoutLife
from tests.faults.jobs import Fault, Kill, Stall
from tests.faults.life import Life
from tests.faults.proxy import Cut
from tests.faults.verbs import VERBS

SHOWN = 20


@dataclass
class Tally:
    """Counts as in `Life`, its findings with the number of the history, and the invariants that do not hold."""

    histories: int = 0
    done: Counter[tuple[str, Fault]] = field(default_factory=Counter)
    killed: Counter[tuple[str, Fault]] = field(default_factory=Counter)
    findings: list[tuple[int, str, str]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def add(self, number: int, life: Life | CheckoutLife) -> None:
        self.histories += 1
        self.done += life.done
        self.killed += life.killed
        self.findings.extend((number, what, line) for what, line in life.findings)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.histories + other.histories,
            self.done + other.done,
            self.killed + other.killed,
            self.findings + other.findings,
            self.broken + other.broken,
        )

    def figures(self) -> dict[str, object]:
        """All that is claimed, as numbers, and the first findings."""
        by_class = Counter(what for _, what, _ in self.findings)
        points = Counter[tuple[str, str]]()
        for (verb, fault), count in self.killed.items():
            if isinstance(fault, Kill):
                points[verb, fault.step] += count
        return {
            "operations": self.done.total(),
            "histories": self.histories,
            "kills": self.killed.total(),
            "stalls": self._count(Stall),
            "cuts": self._count(Cut),
            "fault_points": sum(len(verb.steps) for verb in VERBS.values()),
            "fault_points_killed_at": len(points),
            "kills_at_the_rarest": min(points.values(), default=0),
            "double": by_class["double"],
            "lost": by_class["lost"],
            "books_differ": by_class["books"],
            "unresolved_after_60_s": by_class["unresolved"],
            "refused": by_class["refused"],
            "invariants": len(INVARIANTS),
            "invariants_broken": len(self.broken),
            "findings": [f"history {number}: {what}: {line}" for number, what, line in self.findings[:SHOWN]]
            + self.broken[:SHOWN],
        }

    def _count(self, kind: type[Stall] | type[Cut]) -> int:
        return sum(count for (_, fault), count in self.done.items() if isinstance(fault, kind))


def broken_invariants() -> list[str]:
    """Return the invariants of the money that do not hold in this database, a line each."""
    failures = checks.run(INVARIANTS).failures
    return [f"{failure['name']}: {failure['count']} such as {failure['ids'][:3]}" for failure in failures]
