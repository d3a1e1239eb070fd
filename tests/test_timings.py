"""No test passes or fails by the machine's speed: a timing is a figure, and a pause says what it waits for."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# What measures is no test.
FIGURES = {"figures", "benchmark", "neighbours"}
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "milliseconds"}
# A machine under load makes a test wait for seconds, and never for so long.
LEAST_BOUND_SECONDS = 10


def modules() -> Iterator[Path]:
    for path in sorted(TESTS.rglob("*.py")):
        if not FIGURES & set(path.relative_to(TESTS).parts):
            yield path


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def tight_bounds(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of assertions that a clock's reading is less than a few seconds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            for compared in ast.walk(node.test):
                if isinstance(compared, ast.Compare) and _bounds_a_clock(compared):
                    yield node.lineno


def _bounds_a_clock(compared: ast.Compare) -> bool:
    sides = [compared.left, *compared.comparators]
    for operator, smaller, larger in zip(compared.ops, sides, sides[1:], strict=False):
        if isinstance(operator, ast.Gt | ast.GtE):
            smaller, larger = larger, smaller
        elif not isinstance(operator, ast.Lt | ast.LtE):
            continue
        names = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(smaller)}
        bound = larger.value if isinstance(larger, ast.Constant) else None
        unit = 1000 if "milliseconds" in names else 1
        if names & CLOCKS and isinstance(bound, int | float) and bound < LEAST_BOUND_SECONDS * unit:
            return True
    return False


def unexplained_pauses(source: str, tree: ast.Module) -> Iterator[int]:
    """Yield the lines of the pauses of a fixed length that no comment explains; a pause in a loop is one of polling."""
    lines = source.splitlines()
    polls = {node for loop in ast.walk(tree) if isinstance(loop, ast.For | ast.While) for node in ast.walk(loop)}
    for node in ast.walk(tree):
        if node not in polls and isinstance(node, ast.Call) and ast.unparse(node.func) in {"time.sleep", "sleep"}:
            is_fixed = isinstance(node.args[0], ast.Constant)
            if is_fixed and "#" not in lines[node.lineno - 1] and "#" not in lines[node.lineno - 2]:
                yield node.lineno


def test_no_assertion_depends_on_the_machines_speed() -> None:
    found = {f"{path.relative_to(TESTS)}:{line}" for path in modules() for line in tight_bounds(parsed(path))}
    assert not found, "Leave the timing to a figure."


def test_each_pause_says_what_it_is_for() -> None:
    found = {
        f"{path.relative_to(TESTS)}:{line}"
        for path in modules()
        for line in unexplained_pauses(path.read_text(), parsed(path))
    }
    assert not found, "Wait for the thing itself, or say in a comment why a pause is needed."


@pytest.mark.parametrize(
    ("assertion", "is_tight"),
    [
        ("assert time.monotonic() - started < 0.5", True),
        ("assert 300 <= result.milliseconds < 600", True),
        ("assert 2 > time.process_time() - started", True),
        ("assert time.monotonic() - started < 60", False),
        ("assert 50 <= result.milliseconds", False),
        ("assert amount < 2", False),
    ],
)
def test_an_assertion_on_a_timing_is_recognized(assertion: str, is_tight: bool) -> None:
    assert bool(list(tight_bounds(ast.parse(assertion)))) == is_tight
