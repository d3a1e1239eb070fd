"""Draws mutants of the code for money and security, and counts those that README's tests catch.

The tests run once with their coverage, then each mutant with the tests that run its line: `python -m tests.mutants`.
It ends with 1 where fewer than 95 of 100 are caught. A mutant that changes nothing anybody could see counts as well.
With `--guards` it takes out each refusal of the verbs that assistants may ask for, and every one must be caught.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from coverage import CoverageData

from tests.mutants.judgement import catching_test
from tests.mutants.mutations import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    *("payments/domain", "payments/ledger", "payments/vault", "payments/invariants", "payments/webhooks"),
    *("payments/sensitive_data", "payments/api/access", "payments/api/validation", "payments/providers"),
    *("payments/mcp", "payments/staff", "payments/money.py", "payments/db/writes.py", "customers/domain"),
)
# What refuses a verb that assistants may ask for.
GUARDS = (
    *(f"payments/domain/approvals/{name}.py" for name in ("request", "limits", "execution", "kinds/calls")),
    *("payments/domain/merchants/assistants.py", "payments/mcp/money.py"),
)
REFUSAL = "without `raise"


def main() -> int:
    """Print the mutants and the tests that catch them; return 1 where fewer than 95 of 100, or not all guards, are."""
    arguments = _parser().parse_args()
    coverage = CoverageData(str(arguments.coverage or _covered(Path(tempfile.mkdtemp()) / "coverage")))
    coverage.read()
    drawn = _guards() if arguments.guards else _drawn(arguments.count, arguments.seed)
    folders: SimpleQueue[Path] = SimpleQueue()

    def judged(mutant: Mutant) -> bool:
        folder = folders.get()
        test = catching_test(mutant, coverage, folder)
        folders.put(folder)
        print(f"{mutant}: {test or 'NOT CAUGHT'}", flush=True)
        return test is not None

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.at_once) as pool:
        for number in range(arguments.at_once):
            folders.put(_copy(Path(folder) / str(number)))
        caught = sum(pool.map(judged, drawn))
    print(f"{caught} of {len(drawn)} were caught. Seed {arguments.seed}.")
    return int(caught < len(drawn) if arguments.guards else caught * 20 < len(drawn) * 19)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many mutants")
    parser.add_argument("--seed", type=int, default=37, help="of the draw")
    parser.add_argument("--guards", action="store_true", help="each refusal of the verbs of assistants, none by chance")
    parser.add_argument("--coverage", type=Path, help="the file of an earlier run's coverage")
    parser.add_argument("--at-once", type=int, default=2, help="how many mutants are judged at once")
    return parser


def _covered(file: Path) -> Path:
    rooms = [f"--cov={room.removesuffix('.py').replace('/', '.')}" for room in ROOMS]
    command = [sys.executable, "-m", "pytest", *rooms, "--cov-context=test", "--cov-report="]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(file)}, check=False)
    print(f"coverage is in {file}", flush=True)
    return file


def _drawn(count: int, seed: int) -> Sequence[Mutant]:
    files = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py")) or [ROOT / room]]
    every = [mutant for file in files for mutant in mutants_of(ROOT, file)]
    return random.Random(seed).sample(every, count)


def _guards() -> Sequence[Mutant]:
    every = [mutant for name in GUARDS for mutant in mutants_of(ROOT, ROOT / name)]
    return [mutant for mutant in every if mutant.change.startswith(REFUSAL)]


def _copy(folder: Path) -> Path:
    subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
