"""What a run found."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tests.benchmark.books import Books
from tests.benchmark.figures import Spread, spreads
from tests.benchmark.goals import Goal, Rounds, reached
from tests.benchmark.options import Options


def report(options: Options, rounds: Rounds, books: Books) -> dict[str, Any]:
    """Return what was measured in `rounds`, each goal beside what was reached, and what the books said afterwards."""
    size = {name: getattr(options, name) for name in ("rounds", "seconds", "connections", "charges")}
    return {
        **size,
        "cores": os.cpu_count(),
        "figures": {name: _rounded(spreads(figures)) for name, figures in rounds.items()},
        "goals": [_goal(goal, ratio) for goal, ratio in reached(rounds)],
        "books": asdict(books) | {"in_order": books.in_order},
    }


def _rounded(measures: Mapping[str, Spread]) -> dict[str, Any]:
    return {name: {key: round(value, 4) for key, value in asdict(one).items()} for name, one in measures.items()}


def _goal(goal: Goal, ratio: float) -> dict[str, Any]:
    bound = {"at_most": goal.at_most} if goal.at_least is None else {"at_least": goal.at_least}
    reached = goal.is_reached_by(ratio)
    return {"goal": goal.text, "ratio": round(ratio, 4), **bound, "aim": goal.aim, "reached": reached}
