"""Compares the lines of each room with its budget: `.ci/budget.py [--write]`.

A room is a folder of the product or of the tests, without migrations. `--write` makes the present lines, rounded up,
the budget. Ends with 1 where a room is over its budget.
"""

import subprocess  # nosec B404 # git, never a shell
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUDGET = ROOT / ".ci" / "budget.txt"
# A small mend needs no new budget.
STEP = 25
OVER = """{room} has {lines} lines, {more} more than its budget.
Use an idea that is there, or take something away. Where neither can be, run `.ci/budget.py --write`, and say in the
commit which existing idea the change could not use."""


def room_of(file: Path) -> str:
    """Return the room of a file, by its path below the project."""
    folders = file.parts[:-1]
    return "/".join(folders[: 3 if folders[:2] == ("payments", "domain") else 2]) or "."


def present() -> Counter[str]:
    """Return the lines of Python in each room, and of the product and the tests as a whole."""
    command = ["git", "ls-files", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # nosec B603
    lines: Counter[str] = Counter()
    for file in map(Path, listed.stdout.split()):
        if "migrations" in file.parts or file.parts[0] == ".ci":
            continue
        count = len((ROOT / file).read_text().splitlines())
        lines[room_of(file)] += count
        lines["all tests" if file.parts[0] == "tests" else "the product"] += count
    return lines


def main() -> int:
    """Print the rooms that are over their budgets; return the exit status."""
    lines = present()
    if "--write" in sys.argv:
        BUDGET.write_text("".join(f"{-(-lines[room] // STEP) * STEP:6} {room}\n" for room in sorted(lines)))
        return 0
    known = (line.strip().split(" ", 1) for line in BUDGET.read_text().splitlines())
    budget = {room: int(count) for count, room in known}
    over = {room: lines[room] - budget.get(room, 0) for room in sorted(lines)}
    for room, more in over.items():
        if more > 0:
            print(OVER.format(room=room, lines=lines[room], more=more))
    return int(any(more > 0 for more in over.values()))


if __name__ == "__main__":
    sys.exit(main())
