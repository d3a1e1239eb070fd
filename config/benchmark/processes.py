"""What processes cost, from /proc."""

import os
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# Fields of /proc/PID/stat after the name, which may hold anything, brackets too.
PARENT, USER, CHILDREN_SYSTEM = 1, 11, 14


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and of all that it has started, those that have ended since included."""
    children: dict[int, list[int]] = defaultdict(list)
    ticks: dict[int, int] = {}
    for process, fields in _stats().items():
        children[int(fields[PARENT])].append(process)
        ticks[process] = sum(map(int, fields[USER : CHILDREN_SYSTEM + 1]))
    return sum(ticks[process] for process in _family(pid, children)) / TICKS_PER_SECOND


def _stats() -> dict[int, list[str]]:
    stats = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            stats[int(folder.name)] = (folder / "stat").read_text().rpartition(")")[2].split()
    return stats


def _family(pid: int, children: dict[int, list[int]]) -> list[int]:
    return [pid, *(one for child in children[pid] for one in _family(child, children))]
