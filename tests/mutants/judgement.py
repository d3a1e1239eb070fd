"""Runs the tests that execute a mutant's line, in a copy of the project."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from coverage import CoverageData

from tests.mutants.mutations import Mutant

# How many tests judge a mutant at first: those whose folders are named most like its own.
NEAR = 100
# A mutant can make an endless loop, which counts as caught.
TIMEOUT_SECONDS = 900


def catching_test(mutant: Mutant, coverage: CoverageData, folder: Path) -> str | None:
    """Return the name of a test that fails in `folder` with the mutant, None where all that run its line pass."""
    tests = _tests_of(mutant, coverage)
    file = folder / mutant.path
    original = file.read_text()
    file.write_text(mutant.source)
    try:
        return _first_failure(tests[:NEAR], folder) or _first_failure(tests[NEAR:], folder)
    finally:
        file.write_text(original)


def _tests_of(mutant: Mutant, coverage: CoverageData) -> Sequence[str]:
    """Return the IDs of the tests that run the mutant's line: one of each function's first, near ones before others."""
    measured = next((name for name in coverage.measured_files() if name.endswith(mutant.path)), "")
    lines = coverage.contexts_by_lineno(measured)
    tests = {context.split("|")[0] for context in lines.get(mutant.place.lineno, []) if context}
    words = set(Path(mutant.path).with_suffix("").parts)
    seen: dict[str, int] = {}
    ranked = []
    for test in sorted(tests):
        function = test.split("[")[0]
        seen[function] = seen.get(function, 0) + 1
        distance = -len(words & set(function.replace("::", "/").replace(".py", "").replace("test_", "").split("/")))
        ranked.append((seen[function], distance, test))
    return [test for _, _, test in sorted(ranked)]


def _first_failure(tests: Sequence[str], folder: Path) -> str | None:
    if not tests:
        return None
    (folder / "tests.txt").write_text("\n".join(tests))
    pytest = [sys.executable, "-m", "pytest", "-n", "0", "-x", "--no-header", "-p", "no:cacheprovider", "@tests.txt"]
    options = {"cwd": folder, "env": _environment(), "capture_output": True, "text": True, "check": False}
    try:
        run = subprocess.run(pytest, **options, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return "the time limit"
    if run.returncode == 0:
        return None
    failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return failed[0] if failed else (run.stdout + run.stderr).strip()[-200:]


def _environment() -> dict[str, str]:
    # Compiled modules are found by the seconds of their files, which two mutants can share.
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "."}
