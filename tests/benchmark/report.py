"""What a run found, as a table and as JSON."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from payments.management.tables import NOTHING, in_columns
from tests.benchmark.books import Books
from tests.benchmark.figures import MEASURES, Spread, spreads
from tests.benchmark.goals import Goal, Rounds, reached
from tests.benchmark.options import Options

HEADS = ["per second", "p50 ms", "p99 ms", "server CPU ms", "PostgreSQL CPU ms", "memory MB", "connections"]


@dataclass(frozen=True)
class Report:
    """What was measured in `rounds`; `books` is what the books said afterwards."""

    options: Options
    rounds: Rounds
    books: Books

    @property
    def figures(self) -> Mapping[str, Mapping[str, Spread]]:
        """Return what the rounds came to, by what was measured, and by measure."""
        return {name: spreads(figures) for name, figures in self.rounds.items()}


def as_json(report: Report) -> str:
    """Return all of it, for a program."""
    size = {name: getattr(report.options, name) for name in ("rounds", "seconds", "connections", "charges")}
    found = {
        **size,
        "cores": os.cpu_count(),
        "figures": {name: _rounded(measures) for name, measures in report.figures.items()},
        "goals": [_goal(goal, ratio) for goal, ratio in reached(report.rounds)],
        "books": asdict(report.books) | {"in_order": report.books.in_order},
    }
    return json.dumps(found, indent=2)


def _rounded(measures: Mapping[str, Spread]) -> dict[str, Any]:
    return {name: {key: round(value, 4) for key, value in asdict(one).items()} for name, one in measures.items()}


def _goal(goal: Goal, ratio: float) -> dict[str, Any]:
    bound = {"at_most": goal.at_most} if goal.at_least is None else {"at_least": goal.at_least}
    reached = goal.is_reached_by(ratio)
    return {"goal": goal.text, "ratio": round(ratio, 4), **bound, "aim": goal.aim, "reached": reached}


def as_table(report: Report) -> list[str]:
    """Return lines for a person: medians, with the lowest and the highest."""
    options = report.options
    how = f"{options.rounds} rounds of {options.seconds:g} s, {options.connections} connections, {os.cpu_count()} cores"
    return [
        f"{how}; median (lowest to highest)",
        "",
        *in_columns([*_rows(report)]),
        "",
        *in_columns([_goal_row(*one) for one in reached(report.rounds)] or [["no goal was measured"]]),
        "",
        *_books_lines(report.books),
    ]


def _rows(report: Report) -> Iterator[list[str]]:
    figures = report.figures
    taken = {name for measures in figures.values() for name in measures}
    columns = {name: head for name, head in zip(MEASURES, HEADS, strict=True) if name in taken}
    yield ["", *columns.values()]
    for name, title in (row for part in report.options.parts for row in part.rows):
        measures = figures[name]
        yield [title, *(_cell(measures[column]) if column in measures else NOTHING for column in columns)]


def _cell(spread: Spread) -> str:
    return f"{spread.median:.4g} ({spread.minimum:.4g} to {spread.maximum:.4g})"


def _goal_row(goal: Goal, ratio: float) -> list[str]:
    bound = f"at most {goal.at_most:g}" if goal.at_least is None else f"at least {goal.at_least:g}"
    aim = f", aim {goal.aim:g}" if goal.aim else ""
    return [goal.text, f"{ratio:.2f}", bound + aim, "reached" if goal.is_reached_by(ratio) else "missed"]


def _books_lines(books: Books) -> Iterator[str]:
    if callbacks := books.callbacks:
        yield (
            f"{callbacks.delivered} of {callbacks.events} callbacks are delivered, {callbacks.outbox} wait in the "
            f"outbox, {callbacks.received} were received; a stretch of load left {callbacks.left} at most."
        )
    yield (
        f"{books.answered - len(books.missing)} of {books.answered} objects that were answered are in the books, "
        f"where {books.charges_in_books} charges are of {books.charges} made."
    )
    if books.invariants:
        yield f"{books.invariants - len(books.broken)} of {books.invariants} invariants hold."
    else:
        yield "The invariants were not looked at: seeded charges are in no provider's books."
    yield from (f"Missing: {text}" for text in books.missing[:20])
    yield from (f"Broken: {name}" for name in books.broken)
