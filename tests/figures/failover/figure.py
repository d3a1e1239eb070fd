"""What is lost, done twice or left open, and for how long nothing is written, when each host fails in turn."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection

from tests.figures.failover import books, report
from tests.figures.failover.cluster.cluster import Cluster, cluster
from tests.figures.failover.cluster.hosts import DEBIAN
from tests.figures.failover.cluster.namespaces import missing_packages
from tests.figures.failover.cluster.patroni import POSTGRES
from tests.figures.failover.faults import FAULTS, in_turn
from tests.figures.failover.programs.database import payments
from tests.figures.failover.report import Happened

PACKAGES = {
    "ip": "iproute2",
    "python3": "python3",
    "sysctl": "procps",
    "setpriv": "util-linux",
    "etcd": "etcd-server",
    "haproxy": "haproxy",
    "pgbouncer": "pgbouncer",
    "redis-server": "redis-server",
    "redis-sentinel": "redis-sentinel",
    str(POSTGRES / "postgres"): "postgresql-15",
}
QUIET_SECONDS = 10
WELL_SECONDS = 180
RESOLVE_SECONDS = 180
LOAD_ENDS_SECONDS = 120


def failover(folder: Path, rounds: int, seconds: int, only: list[str], seed: int) -> dict[str, Any]:
    """Make the faults `only` in turn, each stall and cut for `seconds`, and those of the primary `rounds` times."""
    if missing := missing_packages(PACKAGES, DEBIAN):
        sys.exit(f"Programs are missing: apt-get install {' '.join(missing)}")
    if os.geteuid():
        sys.exit("The figure makes network namespaces, which takes root.")
    # As Ctrl-C does, so that nothing is left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    with cluster(folder / "cluster") as made:
        made.start()
        log = folder / "load.jsonl"
        made.start_load(seed, log)
        happened = [_happens(made, log, name, seconds) for name in in_turn(only, rounds)]
        _stop_load(made, log)
        found = _find(made, log)
    answers = _answers(log)
    faults = [report.figures_of(each, answers) for each in happened]
    return {
        "seed": seed,
        "stalled_and_cut_for_seconds": seconds,
        "requests": len(answers),
        "faults": faults,
        **found,
        "holds": found["nothing_lost_or_double"] and all(fault["reached"] for fault in faults),
    }


def _happens(made: Cluster, log: Path, name: str, seconds: int) -> Happened:
    made.wait(QUIET_SECONDS)
    fault, began = FAULTS[name], time.time()
    host = fault.begin(made)
    if fault.end:
        made.wait(seconds)
        fault.end(made)
    well = made.wait(WELL_SECONDS, lambda: made.is_well)
    happened = Happened(name, host, began, time.time() if well else 0.0)
    made.wait(report.MARGIN_SECONDS)
    print(json.dumps(report.figures_of(happened, _answers(log))), file=sys.stderr, flush=True)
    return happened


def _stop_load(made: Cluster, log: Path) -> None:
    made.wait(QUIET_SECONDS)
    made.client.end("load")
    if not made.wait(LOAD_ENDS_SECONDS, lambda: "acknowledged" in _lines(log)[-1]):
        raise RuntimeError(f"The load did not end: {made.client.log('load').read_text()[-2000:]}")


def _find(made: Cluster, log: Path) -> dict[str, Any]:
    """Wait until every outcome is known; return what the books say."""
    started = time.monotonic()
    made.wait(RESOLVE_SECONDS, lambda: not any(made.ask_database("unresolved").values()))
    resolved_seconds = round(time.monotonic() - started, 1)
    # The invariants hold our tables against the simulator's, which are in another database.
    made.patroni.copy_tables(_simulators_tables())
    facts, received, ended = made.ask_database("facts"), made.kaha.received(), _lines(log)[-1]
    findings = books.compare(ended["acknowledged"], facts, payments(), received)
    return {
        "acknowledged": len(ended["acknowledged"]),
        "resolved_after_seconds": resolved_seconds,
        "webhooks_received": len(received),
        "webhooks_repeated": len(received) - len(set(received)),
        "invariants": facts["invariants"],
        **findings.figures(),
        "nothing_lost_or_double": findings.holds,
    }


def _simulators_tables() -> dict[str, list[bytes]]:
    """Return the rows of the provider's tables, in PostgreSQL's text form."""
    rows: dict[str, list[bytes]] = {}
    with connection.cursor() as cursor:
        for model in apps.get_app_config("simulator").get_models():
            columns = ", ".join(f'"{field.column}"' for field in model._meta.local_concrete_fields)
            table = f'"{model._meta.db_table}" ({columns})'
            with cursor.copy(f"COPY {table} TO STDOUT") as copied:
                rows[table] = [bytes(part) for part in copied]
    return rows


def _lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]


def _answers(log: Path) -> list[dict[str, Any]]:
    return [line for line in _lines(log) if "at" in line]
