"""No test passes or fails by the machine's speed: a timing is a figure, and a pause says what it waits for."""

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# What measures is no test.
FIGURES = {"figures", "benchmark", "neighbours"}
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "milliseconds"}
# A machine under load makes a test wait for seconds, and never for so long.
LEAST_BOUND_SECONDS = 10


def modules(words: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield the modules that have one of these words, with their sources."""
    for path in sorted(TESTS.rglob("*.py")):
        name = path.relative_to(TESTS)
        if not FIGURES & set(name.parts) and any(word in (source := path.read_text()) for word in words):
            yield name, source


def tight_bounds(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of assertions that something takes less than a few seconds, by a clock or by `wait_until`."""
    numbers = _numbers_of(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            for part in ast.walk(node.test):
                if isinstance(part, ast.Compare) and _bounds_a_clock(part, numbers):
                    yield node.lineno
            # What is awaited in vain may be awaited for a moment.
            if isinstance(node.test, ast.Call) and ast.unparse(node.test.func) == "wait_until":
                bound = _number(node.test.args[-1], numbers)
                if bound is not None and bound < LEAST_BOUND_SECONDS:
                    yield node.lineno


def _numbers_of(tree: ast.Module) -> dict[str, float]:
    """Return the numbers that a module gives names."""
    return {
        ast.unparse(node.targets[0]): node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int | float)
    }


def _number(node: ast.expr, numbers: Mapping[str, float]) -> float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    return numbers.get(ast.unparse(node))


def _bounds_a_clock(compared: ast.Compare, numbers: Mapping[str, float]) -> bool:
    sides = [compared.left, *compared.comparators]
    for operator, smaller, larger in zip(compared.ops, sides, sides[1:], strict=False):
        if isinstance(operator, ast.Gt | ast.GtE):
            smaller, larger = larger, smaller
        elif not isinstance(operator, ast.Lt | ast.LtE):
            continue
        names = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(smaller)}
        bound = _number(larger, numbers)
        unit = 1000 if "milliseconds" in names else 1
        if names & CLOCKS and bound is not None and bound < LEAST_BOUND_SECONDS * unit:
            return True
    return False


def unexplained_pauses(source: str) -> Iterator[int]:
    """Yield the lines of the pauses of a fixed length that no comment explains; a pause in a loop is one of polling."""
    lines, tree = source.splitlines(), ast.parse(source)
    polls = {node for loop in ast.walk(tree) if isinstance(loop, ast.For | ast.While) for node in ast.walk(loop)}
    for node in ast.walk(tree):
        if node not in polls and isinstance(node, ast.Call) and ast.unparse(node.func) in {"time.sleep", "sleep"}:
            is_fixed = isinstance(node.args[0], ast.Constant)
            if is_fixed and "#" not in lines[node.lineno - 1] and "#" not in lines[node.lineno - 2]:
                yield node.lineno


def test_no_assertion_depends_on_the_machines_speed() -> None:
    timed = modules(CLOCKS | {"wait_until"})
    found = {f"{name}:{line}" for name, source in timed for line in tight_bounds(ast.parse(source))}
    assert not found, "Leave the timing to a figure."


def test_each_pause_says_what_it_is_for() -> None:
    found = {f"{name}:{line}" for name, source in modules(["sleep"]) for line in unexplained_pauses(source)}
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
        ("AT_ONCE = 0.05\nassert time.monotonic() - started < AT_ONCE", True),
        ("assert wait_until(lambda: came, 5)", True),
        ("assert wait_until(lambda: came, PATIENCE_SECONDS)", False),
        ("assert not wait_until(lambda: came, 1)", False),
    ],
)
def test_an_assertion_on_a_timing_is_recognized(assertion: str, is_tight: bool) -> None:
    assert bool(list(tight_bounds(ast.parse(assertion)))) == is_tight
