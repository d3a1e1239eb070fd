"""Files that a layout reads: uploaded or by the command, while the known formats come first."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from payments.domain.reconciliation import file_layouts, uploads
from payments.domain.reconciliation.files import BadReport
from payments.models import BankLine, OwnBankAccount, ReconciliationRun, ReportLine, ReportUpload
from payments.tasks import run_sweep
from tests.client import Api
from tests.operators.factories import person
from tests.reconciliation.factories import export, read_file, simulator_lines
from tests.reconciliation.layouts.stories import COLUMNS, Role, csv_of, layout_in_force, xlsx_of

pytestmark = pytest.mark.django_db


def command(*arguments: object) -> tuple[int, str]:
    """Return the exit status of the command and what it says."""
    out = StringIO()
    try:
        call_command("reconcile", *map(str, arguments), stdout=out)
    except CommandError as fault:
        return fault.returncode, out.getvalue() + str(fault)
    return 0, out.getvalue()


@pytest.mark.parametrize("written", [csv_of, xlsx_of])
def test_an_uploaded_file_is_read_by_the_version_in_force_when_it_was_taken(
    written: Callable[..., bytes], api: Api
) -> None:
    api.charge(amount=1889)
    [line] = simulator_lines()
    first = layout_in_force()
    upload = uploads.submit("simulator", "november", written(line.provider_ref, "other"), person("ana"), None, None)
    layout_in_force(version=2, decimal=".")
    assert run_sweep("read_uploaded_reports")
    upload.refresh_from_db()
    run: Any = upload.run
    assert (upload.state, upload.layout, upload.sealed_content) == ("done", first, None)
    assert (run.layout, run.lines, run.matched) == (first, 2, 1)
    assert [*ReportLine.objects.order_by("number").values_list("amount", "number")] == [(1889, 3), (1889, 4)]
    # Such a file is complete for no period.
    assert run.differences == {"missing_here": 1}


def test_a_known_format_comes_first(api: Api, tmp_path: Path) -> None:
    api.charge()
    layout_in_force()
    run = read_file(export(tmp_path / "report.csv"), "simulator")
    assert (run.layout, run.matched) == (None, 1)


def test_a_file_that_nothing_reads_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadReport, match="must be there, once; no layout of adyen reads it: make one under Reconcil"):
        file_layouts.take(csv_of("a"), "adyen")
    layout_in_force("adyen", columns=COLUMNS | {Role.NET: "Netto"})
    with pytest.raises(BadReport, match=r"column Netto: must be there, once \(by the layout adyen, version 1\)"):
        uploads.submit("adyen", "november.csv", csv_of("a"), person("ana"), None, None)
    assert not ReportUpload.objects.exists()


def test_the_command_reads_a_file_of_our_bank_and_says_the_version(ours: OwnBankAccount, tmp_path: Path) -> None:
    path = tmp_path / "statement.xlsx"
    path.write_bytes(xlsx_of("Friday", "Monday"))
    status, said = command(path, "--bank-account", ours.name)
    assert status == 1
    assert "layout            bpi-payouts, version 1\n" in said
    assert ReconciliationRun.objects.get().layout == file_layouts.in_force(ours.name)
    assert [*BankLine.objects.order_by("pk").values_list("text", flat=True)] == ["Friday Zahlung", "Monday Zahlung"]
    assert command(path, "--bank-account", ours.name)[0] == 2


@pytest.mark.parametrize("account", ["simulator", "bpi-payouts"])
def test_a_file_without_an_entry_is_no_success(account: str, ours: OwnBankAccount, tmp_path: Path) -> None:
    layout_in_force()
    path = tmp_path / "empty.csv"
    path.write_bytes(csv_of())
    option = "--mapping" if account == "simulator" else "--bank-account"
    status, said = command(path, option, account)
    assert status == 2
    assert "no entries" in said
    assert not ReconciliationRun.objects.exists()
