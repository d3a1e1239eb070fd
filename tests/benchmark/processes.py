"""What processes cost, from /proc."""

import os
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# Fields of /proc/PID/stat after the name, which may hold anything, brackets too.
PARENT, USER, CHILDREN_SYSTEM, RESIDENT_PAGES = 1, 11, 14, 21
PAGE_BYTES, MEGABYTE = os.sysconf("SC_PAGE_SIZE"), 2**20


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and of all that it has started, those that have ended since included."""
    return sum(sum(map(int, fields[USER : CHILDREN_SYSTEM + 1])) for fields in _family(pid)) / TICKS_PER_SECOND


def memory_mb(pid: int) -> float:
    """Resident memory of the largest process among it and all that it has started; what they share is in each."""
    return max(int(fields[RESIDENT_PAGES]) for fields in _family(pid)) * PAGE_BYTES / MEGABYTE


def _stats() -> dict[int, list[str]]:
    stats = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            stats[int(folder.name)] = (folder / "stat").read_text().rpartition(")")[2].split()
    return stats


def _family(pid: int) -> list[list[str]]:
    """What is known of a process and of all that it has started."""
    stats = _stats()
    children: dict[int, list[int]] = defaultdict(list)
    for process, fields in stats.items():
        children[int(fields[PARENT])].append(process)
    return [stats[process] for process in _tree(pid, children)]


def _tree(pid: int, children: dict[int, list[int]]) -> list[int]:
    return [pid, *(one for child in children[pid] for one in _tree(child, children))]
