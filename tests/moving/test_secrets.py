"""No number that comes or leaves is anywhere but sealed in its column."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.canaries.misplaced import NUMBER
from tests.canaries.scanner import findings
from tests.canaries.service import card_numbers_kept
from tests.moving.conftest import Import
from tests.moving.files import anna, csv_of

pytestmark = pytest.mark.django_db
CORE = "import resource; from payments.embedded import processes; processes.leave_no_core_dump()"
CORE += "; print(processes._libc.prctl(3), *resource.getrlimit(resource.RLIMIT_CORE))"


def test_no_imported_number_is_in_a_statement_a_column_the_result_or_a_file(
    bring: Import, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    places = tmp_path / "temporary"
    places.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(places))
    rows = anna(raw_card_number=NUMBER), anna(customer_id="c-2", raw_card_number=NUMBER, email="")

    with CaptureQueriesContext(connection) as statements:
        brought = bring(csv_of(*rows, anna(customer_id=NUMBER)), "--events")

    assert "1 imported, 2 refused" in brought.said
    assert list(findings(repr([vars(brought), statements.captured_queries, caplog.records]).encode())) == []
    assert card_numbers_kept() == []
    assert not any(places.iterdir())


@pytest.mark.parametrize("command", ["import_customers", "export_customers"])
def test_a_command_that_sees_numbers_leaves_no_core_dump_and_begins_with_that(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def off() -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"payments.management.commands.{command}.leave_no_core_dump", off)
    with pytest.raises(KeyboardInterrupt):
        call_command(command, *["/dev/null"] * (command == "import_customers"), "--merchant", "nobody")
    assert subprocess.check_output([sys.executable, "-c", CORE], text=True) == "0 0 0\n"
