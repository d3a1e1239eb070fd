"""How long nothing was written, and which requests failed, around each fault."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Line = Mapping[str, Any]

# The goals for the write gap, in seconds.
MOST_GAP_SECONDS = {"primary-kill": 15.0, "primary-unplug": 35.0}
WITHOUT_FAILURES = "web-"
# What counts to a fault before it began and after everything was well again.
MARGIN_SECONDS = 5.0


@dataclass(frozen=True)
class Happened:
    """A fault, at which host, when it began, and when everything was well again (0: it never was)."""

    fault: str
    host: str
    began: float
    well: float


def figures_of(happened: Happened, lines: Sequence[Line]) -> dict[str, Any]:
    """Return the figures of one fault, from the `lines` of the load, which have `at`, and `status` or `error`."""
    end = (happened.well or lines[-1]["at"]) + MARGIN_SECONDS
    near = [line for line in lines if happened.began - MARGIN_SECONDS <= line["at"] <= end]
    failed = Counter(kind for line in near if line["at"] >= happened.began and (kind := failure(line)))
    gap = write_gap(near, happened.began, end)
    return {
        "fault": happened.fault,
        "host": happened.host,
        "write_gap_seconds": round(gap, 1),
        "well_after_seconds": round(happened.well - happened.began, 1) if happened.well else None,
        "requests": len(near),
        "failed": dict(failed),
        "reached": bool(happened.well) and _reached(happened.fault, gap, failed.total()),
    }


def write_gap(lines: Iterable[Line], began: float, end: float) -> float:
    """Return the longest time without an acknowledged write that ended after `began`."""
    done = [line["at"] for line in lines if 200 <= line.get("status", 0) < 300]
    return max(
        (after - max(before, began) for before, after in pairwise([began, *done, end]) if after > began), default=0.0
    )


def failure(line: Line) -> str:
    """Return how a request failed; "" if it was done, or refused for a moment because another one works on it."""
    if "error" in line:
        return str(line["error"])
    return f"{line['status']} {line['code']}" if line["status"] >= 500 or line["status"] in (401, 403, 429) else ""


def _reached(fault: str, gap: float, failures: int) -> bool:
    if fault.startswith(WITHOUT_FAILURES):
        return failures == 0
    return gap <= MOST_GAP_SECONDS.get(fault, gap)
