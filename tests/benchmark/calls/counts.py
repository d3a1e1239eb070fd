"""Counts what a piece of work calls in this thread, and what it writes to PostgreSQL's log."""

import gc
import os
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median_low
from types import CodeType, FrameType
from typing import Any

from payments.embedded.folders import PROJECT

WARM = COUNTED = 40
# psycopg looks once for each statement, by any cursor, whether it is prepared; BEGIN and COMMIT are none.
STATEMENT = ("psycopg/_preparing.py", "get")
LOG_BYTES = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"

Act = Callable[[], object]


@dataclass(frozen=True)
class Count:
    """Calls of functions of `python` and of `c`, `statements`, bytes of PostgreSQL's log, and calls by function."""

    python: float
    c: float
    statements: float
    log_bytes: float
    functions: Mapping[str, float]


def counted(acts: Iterable[Act], log_bytes: Callable[[], int], warm: int = WARM) -> Count:
    """Run all, and return the medians of those after the first `warm`."""
    gc.disable()
    try:
        found = [_one(act, log_bytes) for act in acts][warm:]
    finally:
        gc.enable()
    python = median_low([one.python for one in found])
    middle = next(one for one in found if one.python == python)
    return Count(
        python,
        median_low([one.c for one in found]),
        median_low([one.statements for one in found]),
        median_low([one.log_bytes for one in found]),
        middle.functions,
    )


def total(parts: Sequence[tuple[Count, float]]) -> Count:
    """Return the sum of counts, each so many times."""
    functions: Counter[str] = Counter()
    for part, times in parts:
        for name, calls in part.functions.items():
            functions[name] += calls * times
    sums = [
        sum(getattr(part, name) * times for part, times in parts) for name in ("python", "c", "statements", "log_bytes")
    ]
    return Count(*(round(one) for one in sums), functions)


def _one(act: Act, log_bytes: Callable[[], int]) -> Count:
    python: Counter[CodeType] = Counter()
    c: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            python[frame.f_code] += 1
        elif event == "c_call":
            c[argument.__qualname__] += 1

    before = log_bytes()
    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
    written = log_bytes() - before
    functions: Counter[str] = Counter({f"C:{name}": calls for name, calls in c.items()})
    statements = 0
    for code, calls in python.items():
        file = _short(code.co_filename)
        functions[f"{file}:{code.co_qualname}"] += calls
        if (file, code.co_name) == STATEMENT:
            statements += calls
    return Count(python.total(), c.total(), statements, written, functions)


@cache
def _short(file: str) -> str:
    """Return the path of a file below the project, or below the folder of its packages."""
    for folder in (sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), str(PROJECT)):
        if file.startswith(folder + os.sep):
            return file.removeprefix(folder + os.sep)
    return file
