"""Counts what each kind of request and the worker's work cost: calls of functions, statements, PostgreSQL's log.

Counted and not timed, so it comes out the same on any machine, however busy.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from payments.embedded.folders import PROJECT
from tests.high_limits import MANY_DECLINES_TEXT
from tests.support.postgres import Postgres
from tests.support.scratch import scratch_servers

NUMBERS = PROJECT / ".ci" / "calls.json"
MEASURES = ("python", "c", "statements", "log_bytes")
# What may be more: one in a hundred, and what differs from run to run.
MORE, NOISE = 1.01, {"python": 1, "c": 1, "statements": 0, "log_bytes": 128}
# An attempt reads what its receiver has sent by then, so that its answer comes in one piece or in some.
MORE_BY_PIECES = {"webhook": 1.1}
# No table is cleaned, and no page written whole, at a moment of PostgreSQL's choice.
POSTGRES = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off", "checkpoint_timeout": "1d"}
POSTGRES["max_wal_size"] = "8GB"
# No limit is reached, nobody signs in with a second factor, and every word has one hash in all runs.
ENVIRONMENT = {
    "RATE_LIMIT": "999999999/second",
    "RATE_LIMIT_ANONYMOUS": "999999999/second",
    "DECLINE_LIMITS_TEST": MANY_DECLINES_TEXT,
    "ADMIN_MFA": "false",
    "ALLOWED_HOSTS": "127.0.0.1,testserver",
    "PYTHONHASHSEED": "0",
}
SHOWN = 12
# By name, one count as JSON has it; calls by function are in its member `functions`.
Counts = Mapping[str, Mapping[str, Any]]


def main(arguments: list[str]) -> int:
    """Count and print. Return 1 where a number is higher than the one that is kept."""
    options = _parser().parse_args(arguments)
    if not ENVIRONMENT.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, "-m", "tests.benchmark.calls", *arguments], os.environ | ENVIRONMENT)
    found = _count(options.only)
    before = _of_commit(options.against, list(found)) if options.against else {}
    if options.json:
        print(json.dumps(found if options.by_file else _without_functions(found), indent=2))
    else:
        print("\n".join(_table(found, before)))
        if options.by_file:
            print("\n".join(line for name in found for line in _places(name, found, before)))
    if options.write:
        _write(_without_functions(found))
    return _check(found) if options.check else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark calls", description=__doc__)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], metavar="NAMES", help="count these")
    parser.add_argument("--json", action="store_true", help="print JSON; with --by-file the calls of each function too")
    parser.add_argument("--by-file", action="store_true", help="say in which files the calls are")
    parser.add_argument("--against", metavar="COMMIT", help="beside those of another commit")
    parser.add_argument("--check", action="store_true", help=f"fail where one is above that of {NUMBERS.name}, by 1 %%")
    parser.add_argument("--write", action="store_true", help=f"keep all in {NUMBERS.name}")
    return parser


def _count(names: list[str]) -> Counts:
    # Only errors are of interest, and the line of each request is written, to nowhere.
    with scratch_servers(**POSTGRES) as folders, _Silent():
        # They use the models, which need the settings that the servers have just made.
        from tests.benchmark.calls.counts import LOG_BYTES
        from tests.benchmark.calls.examples import NAMES, count_all

        if unknown := set(names) - set(NAMES):
            raise SystemExit(f"There is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}.")
        with Postgres(folders.data).connect() as watching:

            def log_bytes() -> int:
                [(count,)] = watching.execute(LOG_BYTES).fetchall()
                return int(str(count))

            return {name: vars(count) for name, count in count_all(names or NAMES, log_bytes)}


class _Silent:
    """Sends the log to nowhere, so that its lines are made and written."""

    def __enter__(self) -> None:
        sys.stderr.flush()
        self._kept = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)

    def __exit__(self, *_: object) -> None:
        os.dup2(self._kept, 2)
        os.close(self._kept)


def _of_commit(commit: str, names: list[str]) -> Counts:
    """Count in a copy of the repository at `commit`, by the present examples."""
    with tempfile.TemporaryDirectory(prefix="kaha-calls-") as folder:
        copy = Path(folder) / "kaha"
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", PROJECT, copy], check=True)
        subprocess.run(["git", "checkout", "-q", commit], cwd=copy, check=True)
        for path in ("tests/benchmark/calls", "tests/support/scratch.py"):
            _copy(PROJECT / path, copy / path)
        command = [sys.executable, "-m", "tests.benchmark.calls", "--json", "--by-file", "--only", ",".join(names)]
        done = subprocess.run(command, cwd=copy, check=True, stdout=subprocess.PIPE, text=True)
        found: Counts = json.loads(done.stdout)
        return found


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def _table(found: Counts, before: Counts) -> Iterator[str]:
    yield f"{'':16}{'Python':>16}{'C':>16}{'statements':>12}{'log, bytes':>18}"
    for name, count in found.items():
        cells = [_cell(count[measure], before.get(name, {}).get(measure)) for measure in MEASURES]
        yield f"{name:16}{cells[0]:>16}{cells[1]:>16}{cells[2]:>12}{cells[3]:>18}"


def _cell(now: int, before: int | None) -> str:
    return f"{now:,}" if before is None else f"{before:,} → {now:,}"


def _places(name: str, found: Counts, before: Counts) -> Iterator[str]:
    """Yield where most calls are: by file, or by function where they differ from `before`."""
    yield f"\n{name}"
    if not before:
        files: Counter[str] = Counter()
        for function, calls in found[name]["functions"].items():
            files[function.partition(":")[0]] += calls
        yield from (f"{calls:8.0f} {file}" for file, calls in files.most_common(4 * SHOWN))
        return
    now, then = (Counter(counts[name]["functions"]) for counts in (found, before))
    moved = {function: now[function] - then[function] for function in now | then}
    for function, calls in sorted(moved.items(), key=lambda item: -abs(item[1]))[: 4 * SHOWN]:
        if calls:
            yield f"{calls:+8.0f} {function}"


def _without_functions(found: Counts) -> dict[str, dict[str, int]]:
    return {name: {measure: count[measure] for measure in MEASURES} for name, count in found.items()}


def _write(counts: Counts) -> None:
    kept = {"python_version": platform.python_version(), "counts": counts}
    NUMBERS.write_text(json.dumps(kept, indent=2) + "\n")


def _check(found: Counts) -> int:
    """Compare with the numbers that are kept: print what rose, and by which functions; keep what fell."""
    kept = json.loads(NUMBERS.read_text())
    if kept["python_version"] != platform.python_version():
        print(f"The numbers are of Python {kept['python_version']}; other versions call other functions.")
        return 1
    rose = rises(kept["counts"], found)
    for name, measure, most, now in rose:
        print(f"{name}: {measure} {most} → {now}")
    if rose:
        names = sorted({name for name, *_ in rose})
        command = ["git", "log", "-1", "--format=%H", "--", NUMBERS]
        commit = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.strip()
        before = _of_commit(commit, names)
        print("\n".join(line for name in names for line in _places(name, found, before)))
        return 1
    fell = lowest(kept["counts"], found)
    if fell != kept["counts"]:
        _write(fell)
        print(f"Some are lower. {NUMBERS.name} has them now: commit it.")
    return 0


def rises(kept: Counts, found: Counts) -> list[tuple[str, str, int, int]]:
    """Return of each number that rose: its name, what it measures, what is kept and what was found."""
    return [
        (name, measure, kept[name][measure], count[measure])
        for name, count in found.items()
        for measure in MEASURES
        if name in kept and count[measure] > kept[name][measure] * MORE_BY_PIECES.get(name, MORE) + NOISE[measure]
    ]


def lowest(kept: Counts, found: Counts) -> Counts:
    """Return the lower of each two numbers; what is not kept yet as it was found."""
    return {
        name: {measure: min(kept.get(name, count)[measure], count[measure]) for measure in MEASURES}
        for name, count in {**kept, **found}.items()
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
