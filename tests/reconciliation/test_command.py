"""`manage.py reconcile`: its output, its exit status, and its refusals."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from payments.models import ReconciliationItem, ReconciliationRun, ReportLine
from payments.tasks import run_sweep
from tests.client import APPROVED, Api
from tests.reconciliation.bank.stories import own_account, statement
from tests.reconciliation.factories import export, pay_in_every_way, tampered
from tests.simulator.factories import taken

pytestmark = pytest.mark.django_db


def output_of(*arguments: object, ends_with: int = 0) -> str:
    """Run the command, which must end with that status; return its output."""
    output, status = io.StringIO(), 0
    try:
        call_command("reconcile", *map(str, arguments), stdout=output)
    except CommandError as fault:
        status = fault.returncode
        output.write(str(fault))
    assert status == ends_with, output.getvalue()
    return output.getvalue()


def table(text: str) -> dict[str, str]:
    """Return the printed values by their names."""
    return {line[:18].strip(): line[18:].strip() for line in text.splitlines()}


def test_it_ends_with_0_where_all_matches(api: Api) -> None:
    pay_in_every_way(api)
    facts = table(output_of("--provider", "simulator"))
    assert (facts["lines"], facts["matched"], facts["new items"]) == ("15, 15 of them new", "15", "0")
    assert [facts[kind.label.lower()] for kind in ReconciliationItem.Kind] == ["0"] * len(ReconciliationItem.Kind)


def test_it_ends_with_1_while_a_difference_is_open(api: Api) -> None:
    taken(APPROVED)
    assert "Open differences: 1." in output_of("--provider", "simulator", ends_with=1)
    assert table(output_of("--provider", "simulator", ends_with=1))["not in ledger"] == "1"


def test_an_exported_file_is_accepted(api: Api, tmp_path: Path) -> None:
    pay_in_every_way(api)
    path = tmp_path / "report.csv"
    assert output_of("--provider", "simulator", "--export", path) == f"15 lines written to {path}.\n"
    facts = table(output_of(path, "--mapping", "simulator"))
    assert (facts["report of"], facts["matched"]) == ("simulator, report.csv", "15")


def test_an_export_stores_nothing_and_overwrites_nothing(api: Api, tmp_path: Path) -> None:
    api.charge()
    path = tmp_path / "report.csv"
    path.write_text("mine")
    assert "File exists" in output_of("--provider", "simulator", "--export", path, ends_with=2)
    assert path.read_text() == "mine"
    assert not ReconciliationRun.objects.exists()


def test_a_file_of_which_nothing_can_be_read_is_named_and_stores_nothing(api: Api, tmp_path: Path) -> None:
    api.charge()
    path = tampered(tmp_path / "report.csv", lambda rows: rows[0].update(amount="=1"))
    output = output_of(path, "--mapping", "simulator", ends_with=2)
    assert output == f"{path}: line 2, column amount: must be an amount of PHP in digits, such as 18.50."
    assert not ReconciliationRun.objects.exists()
    assert not ReportLine.objects.exists()


def test_a_row_that_cannot_be_read_is_an_open_difference(api: Api, tmp_path: Path) -> None:
    api.charge()
    path = tampered(tmp_path / "report.csv", lambda rows: rows.append(rows[0] | {"amount": "=1"}))
    facts = table(output_of(path, "--mapping", "simulator", ends_with=1))
    assert (facts["lines"], facts["matched"], facts["cannot be read"]) == ("2, 2 of them new", "1", "1")


def test_a_statement_of_a_bank_account_is_read_and_counted_as_json(tmp_path: Path) -> None:
    own_account()
    path = tmp_path / "statement.xml"
    path.write_text(statement("-5.00"))
    output = output_of("--bank-account", "bpi-payouts", path, "--json", ends_with=1)
    assert output.startswith('{"lines": 1, "new_lines": 1, "matched": 0, "under_way": 0, "new_items": 1,')
    assert "read before" in output_of("--bank-account", "bpi-payouts", path, ends_with=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["report.csv"],
        ["report.csv", "--bank-account", "none"],
        ["--provider", "simulator", "--mapping", "simulator"],
        ["--provider", "simulator", "--from", "2999-01-01"],
        ["--provider", "simulator", "--from", "2026-01-02", "--to", "2026-01-01"],
        ["nothing.csv", "--mapping", "simulator"],
    ],
    ids=" ".join,
)
def test_contradictory_arguments_are_refused(arguments: list[str]) -> None:
    assert output_of(*arguments, ends_with=2)
    assert not ReconciliationRun.objects.exists()


@pytest.mark.parametrize("text", ["0001-01-01T00:00+14:00", "0001-01-01", "9999-12-31T23:59-12:00", "999999d", "soon"])
def test_a_time_at_an_end_of_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match=r"is (no|not a) time"):
        call_command("reconcile", "--provider", "simulator", "--from", text)
    assert not ReconciliationRun.objects.exists()


def test_a_file_without_lines_needs_its_period(tmp_path: Path, api: Api) -> None:
    api.charge()
    path = tampered(tmp_path / "report.csv", lambda rows: rows.clear())
    assert "give the period that it covers" in output_of(path, "--mapping", "simulator", ends_with=2)
    announced = output_of(path, "--mapping", "simulator", "--from", "1d", "--to", "2999-01-01", ends_with=1)
    assert table(announced)["not in report"] == "1"


def test_the_next_report_begins_where_the_last_one_ended(api: Api) -> None:
    api.charge()
    output_of("--provider", "simulator")
    assert table(output_of("--provider", "simulator"))["lines"] == "0, 0 of them new"
    first, second = ReconciliationRun.objects.order_by("pk")
    assert (first.covers_from, second.covers_from) == (None, first.covers_to)


def test_the_worker_reconciles_once_a_day(api: Api) -> None:
    api.charge()
    assert run_sweep("reconcile_simulator")
    assert not run_sweep("reconcile_simulator")
    run = ReconciliationRun.objects.get()
    assert (run.started_by, run.matched) == ("worker", 1)


def test_a_manual_run_does_not_replace_the_workers(api: Api, tmp_path: Path) -> None:
    api.charge()
    output_of(export(tmp_path / "report.csv"), "--mapping", "simulator")
    assert run_sweep("reconcile_simulator")
