"""How long one merchant waits while somebody else misbehaves, or something that kaha needs fails.

Each offence has a web server and a worker of its own, and is measured right after a quiet stretch.
"""

import sys
from pathlib import Path
from typing import Any

from django.conf import settings

from tests.benchmark.figures import MS, percentile
from tests.neighbours.offences import OFFENCES
from tests.neighbours.round import Round, measure

MOST_RATIO = 3


def neighbours(folder: Path, quiet_seconds: int, seconds: int, only: str) -> dict[str, Any]:
    """Return, by offence, the waits of each probe in milliseconds and whether the promise held."""
    settings.ALLOWED_HOSTS = ["testserver"]
    chosen = OFFENCES if only == "all" else {only: OFFENCES[only]}
    figures = {}
    for name, offence in chosen.items():
        figures[name] = _figures(measure(folder, offence, quiet_seconds, seconds))
        print(name, "holds" if figures[name]["holds"] else "does not hold", file=sys.stderr, flush=True)
    return {"most_ratio": MOST_RATIO, "holds": all(each["holds"] for each in figures.values()), "offences": figures}


def _figures(measured: Round) -> dict[str, Any]:
    quiet, disturbed = measured.quiet.waits, measured.disturbed.waits
    probes = {name: _probe(quiet[name], disturbed.get(name, [])) for name in quiet}
    errors = measured.disturbed.errors
    return {
        "holds": not errors and all(probe["ratio_p99"] <= MOST_RATIO for probe in probes.values()),
        "probes": probes,
        "errors": {name: {"count": len(reasons), "first": reasons[0]} for name, reasons in errors.items()},
        "errors_while_quiet": measured.quiet.error_count,
    }


def _probe(quiet: list[float], disturbed: list[float]) -> dict[str, Any]:
    if not disturbed:
        return {"answered": 0, "ratio_p99": float("inf")}
    rows = {"quiet": quiet, "disturbed": disturbed}
    figures = {
        f"{row}_p{share}": round(percentile(waits, share) * MS, 1) for row, waits in rows.items() for share in (50, 99)
    }
    return {
        "answered": len(disturbed),
        **figures,
        "ratio_p99": round(figures["disturbed_p99"] / figures["quiet_p99"], 1),
    }
