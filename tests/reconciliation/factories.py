"""Payments of every kind, and the simulator's report of them as a file that a test may change."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from payments.domain.reconciliation import file_layouts, files, runs
from payments.domain.reconciliation.layouts import MAPPINGS, Layout
from payments.models import ReconciliationItem, ReconciliationRun
from payments.providers.settlement_reports import SettlementLine
from payments.tasks import run_sweep
from tests.client import APPROVED, REFUNDS_FAIL, REFUNDS_WAIT, Api, made
from tests.simulator.factories import taken

SIMULATOR = MAPPINGS["simulator"]
COMMAND = ReconciliationRun.Origin.COMMAND
Tamper = Callable[[list[dict[str, str]]], object]


def pay_in_every_way(api: Api) -> None:
    """Make payments captured at once, later and in part, voided, refunded with every outcome, declined, and held."""
    api.charge()
    _on(api, api.held(), "capture", {"amount": 6_000})
    _on(api, api.held(), "void")
    _on(api, api.charge(), "void")
    for number in (APPROVED, REFUNDS_FAIL, REFUNDS_WAIT):
        charge = api.charge(number)
        _on(api, charge, "refund", {"amount": 1_000})
        _on(api, charge, "refund", {"amount": 2_000})
    api.charge("4000000000000002")
    api.held()
    run_sweep("apply_simulator_messages")


def _on(api: Api, charge: dict[str, Any], verb: str, body: dict[str, int] | None = None) -> None:
    made(api.post(f"/charges/{charge['id']}/{verb}", body))


def simulator_lines() -> list[SettlementLine]:
    return list(runs.provider_report("simulator").lines)


def reconcile(**changed: Any) -> ReconciliationRun:
    """Reconcile the simulator's own report, with the members `changed`; return the run."""
    return runs.reconcile(replace(runs.provider_report("simulator"), **changed), COMMAND)


def export(path: Path) -> Path:
    """Write the simulator's report to a file; return its path."""
    with path.open("w", encoding="utf-8", newline="") as file:
        files.write(simulator_lines(), SIMULATOR, file)
    return path


def tampered(path: Path, tamper: Tamper) -> Path:
    """Write the simulator's report with rows changed by `tamper`; return its path."""
    with export(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    header = list(rows[0])
    tamper(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, header)
        out.writeheader()
        out.writerows(rows)
    return path


def reconcile_file(path: Path) -> ReconciliationRun:
    return read_file(path, SIMULATOR.provider)


def lines_in(path: Path, layout: Layout = SIMULATOR) -> list[SettlementLine]:
    """Return the lines of the report in a file."""
    return files.parse(files.decode(files.content(path)), layout)


def read_file(path: Path, account: str) -> ReconciliationRun:
    """Read a file of a provider or bank account as the command does."""
    return runs.reconcile(file_layouts.take(path.read_bytes(), account).report(path.name, None, None), COMMAND)


def kinds() -> list[str]:
    """Return the kinds of the open items that have not vanished."""
    rows = ReconciliationItem.objects.filter(state="open", vanished_at=None)
    return sorted(rows.values_list("kind", flat=True))


def a_difference() -> ReconciliationItem:
    """Return the item of a payment that only the simulator knows."""
    taken(APPROVED)
    reconcile()
    return ReconciliationItem.objects.latest("pk")
