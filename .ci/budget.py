"""Compares the lines of the product and of the tests with their budget: `.ci/budget.py [--write]`.

Migrations do not count, and what git does not know yet does. `--write` makes the present lines, rounded up, the
budget. Ends with 1 where one is over it.
"""

import subprocess  # nosec B404 # git, never a shell
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUDGET = ROOT / ".ci" / "budget.txt"
# A small mend needs no new budget.
STEP = 25
OVER = """There are {lines} lines in {part}, {more} more than their budget.
Use an idea that is there, or take something away. Where neither can be, run `.ci/budget.py --write`, and say in the
commit which existing idea the change could not use."""


def present() -> Counter[str]:
    """Return the lines of Python in the product and in the tests."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # nosec B603
    lines: Counter[str] = Counter()
    for file in set(map(Path, listed.stdout.splitlines())):
        # What was deleted is listed until that is committed.
        if "migrations" in file.parts or file.parts[0] == ".ci" or not (ROOT / file).exists():
            continue
        part = "all tests" if file.parts[0] == "tests" else "the product"
        lines[part] += len((ROOT / file).read_text().splitlines())
    return lines


def main() -> int:
    """Print what is over its budget; return the exit status."""
    lines = present()
    if "--write" in sys.argv:
        BUDGET.write_text("".join(f"{-(-lines[part] // STEP) * STEP:6} {part}\n" for part in sorted(lines)))
        return 0
    known = (line.strip().split(" ", 1) for line in BUDGET.read_text().splitlines())
    over = {part: lines[part] - int(count) for count, part in known}
    for part, more in over.items():
        if more > 0:
            print(OVER.format(part=part, lines=lines[part], more=more))
    return int(any(more > 0 for more in over.values()))


if __name__ == "__main__":
    sys.exit(main())
