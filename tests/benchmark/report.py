"""What a run found, as a table and as JSON."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from payments.management.tables import NOTHING, in_columns
from tests.benchmark.callbacks import Told
from tests.benchmark.figures import MEASURES, Spread
from tests.benchmark.goals import Reached, reached
from tests.benchmark.options import Options

if TYPE_CHECKING:
    # It needs Django's settings, which there are none of when this is loaded.
    from tests.benchmark.books import Books

HEADS = dict(
    zip(
        MEASURES,
        ["per second", "p50 ms", "p99 ms", "server CPU ms", "PostgreSQL CPU ms", "memory MB", "connections"],
        strict=True,
    )
)


@dataclass(frozen=True)
class Report:
    """`figures` are by who was measured, and by measure; `books` is what the books said afterwards."""

    options: Options
    figures: Mapping[str, Mapping[str, Spread]]
    books: "Books"


def as_json(report: Report) -> str:
    """All of it, for a program."""
    options = report.options
    size = {name: getattr(options, name) for name in ("rounds", "seconds", "connections", "charges")}
    found = {
        **size,
        "cores": os.cpu_count(),
        "figures": {name: _rounded(measures) for name, measures in report.figures.items()},
        "goals": [_goal(one) for one in reached(report.figures)],
        "books": asdict(report.books) | {"in_order": report.books.in_order},
    }
    return json.dumps(found, indent=2)


def as_table(report: Report) -> list[str]:
    """Lines for a person: medians, with the lowest and the highest."""
    options = report.options
    how = f"{options.rounds} rounds of {options.seconds:g} s, {options.connections} connections, {os.cpu_count()} cores"
    return [
        f"{how}; median (lowest to highest)",
        "",
        *in_columns([*_rows(report)]),
        "",
        *in_columns([_goal_row(one) for one in reached(report.figures)] or [["no goal was measured"]]),
        "",
        *_books_lines(report.books),
    ]


def _rows(report: Report) -> Iterator[list[str]]:
    taken = {name for measures in report.figures.values() for name in measures}
    columns = [name for name in MEASURES if name in taken]
    yield ["", *(HEADS[name] for name in columns)]
    for trial in report.options.trials:
        for name, title in trial.rows:
            measures = report.figures[name]
            yield [title, *(_cell(measures[column]) if column in measures else NOTHING for column in columns)]


def _cell(spread: Spread) -> str:
    return f"{spread.median:.4g} ({spread.minimum:.4g} to {spread.maximum:.4g})"


def _goal_row(one: Reached) -> list[str]:
    goal = one.goal
    bound = f"{'at most' if goal.at_most else 'at least'} {goal.bound:g}"
    aim = f", aim {goal.aim:g}" if goal.aim else ""
    return [goal.text, f"{one.ratio:.2f}", bound + aim, "reached" if one.is_enough else "missed"]


def _books_lines(books: "Books") -> list[str]:
    lines = [
        *_callback_lines(books.callbacks),
        f"{books.answered - len(books.missing)} of {books.answered} objects that were answered are in the books, "
        f"where {books.charges_in_books} charges are of {books.charges} made.",
        f"{books.invariants - len(books.broken)} of {books.invariants} invariants hold."
        if books.invariants
        else "The invariants were not looked at: seeded charges are in no provider's books.",
    ]
    return [*lines, *(f"Missing: {text}" for text in books.missing[:20]), *(f"Broken: {name}" for name in books.broken)]


def _callback_lines(told: Told | None) -> list[str]:
    if not told:
        return []
    return [
        f"{told.delivered} of {told.events} callbacks are delivered, {told.outbox} wait in the outbox, "
        f"{told.received} were received; a stretch of load left {told.left} at most."
    ]


def _rounded(measures: Mapping[str, Spread]) -> dict[str, Any]:
    return {name: {key: round(value, 4) for key, value in asdict(one).items()} for name, one in measures.items()}


def _goal(one: Reached) -> dict[str, Any]:
    goal = one.goal
    bound = {"at_most" if goal.at_most else "at_least": goal.bound}
    return {"goal": goal.text, "ratio": round(one.ratio, 4), **bound, "aim": goal.aim, "reached": one.is_enough}
