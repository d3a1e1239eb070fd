"""Statements of 100,000 movements are read within a bounded memory, with progress on the page and the terminal."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from payments.domain.reconciliation import uploads
from payments.models import OwnBankAccount, ReportLine
from tests.operators.factories import person
from tests.reconciliation.bank.files import camt, details, entry, mt940
from tests.support.web import database_url

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
LINES, MOST_KIB = 100_000, 384 * 1024
# `ru_maxrss` would have what the process had that started it.
PEAK = """
import atexit, pathlib
atexit.register(lambda: print(pathlib.Path("/proc/self/status").read_text()))
"""
COMMAND = "import runpy; runpy.run_path('manage.py', run_name='__main__')"
# The worker, which prints the number of rows whenever it stores it for the page.
WORKER = """
import django
django.setup()
from payments.domain.due_rows import DueRows
from payments.domain.reconciliation import uploads
renew, uploads.BEAT_SECONDS = DueRows.renew, 0.05
DueRows.renew = lambda self, row, **values: print(values["rows_read"]) or renew(self, row, **values)
uploads.read_due()
"""


def run(program: str, *arguments: str) -> tuple[str, int]:
    """Run a program of ours on a terminal; return what it wrote there, and the most memory that it had, in KiB."""
    command = [sys.executable, "-c", PEAK + program, *arguments]
    environment = os.environ | {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "config.settings"}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = b""
    # Linux reports the end of a terminal as an error.
    with suppress(OSError):
        while part := os.read(ours, 65_536):
            written += part
    os.close(ours)
    process.wait()
    peak = re.search(r"VmHWM:\s+([0-9]+) kB", written.decode())
    assert peak
    return written.decode(), int(peak[1])


def test_a_worker_reads_a_large_statement_and_says_how_far_it_is(ours: OwnBankAccount) -> None:
    lines = (f":61:2611261126D1,00NTRFE{number}//R{number}\n:86:EREF+E{number}" for number in range(LINES))
    text = mt940(lines, closing="D261126PHP99000,00")
    upload = uploads.submit(ours.name, "november.sta", text.encode(), person("maria", "finance"), None, None)
    written, memory = run(WORKER)
    upload.refresh_from_db()
    assert (upload.state, upload.rows, upload.rows_read) == ("done", LINES, LINES)
    assert any(0 < int(count) < LINES for count in re.findall(r"^(\d+)\r?$", written, re.MULTILINE))
    assert memory < MOST_KIB
    assert ReportLine.objects.count() == LINES


def test_the_command_reads_a_large_statement_and_says_how_far_it_is(ours: OwnBankAccount, tmp_path: Path) -> None:
    file = tmp_path / "november.xml"
    entries = (entry("-1.00", details(f"E{number}"), ref=f"R{number}") for number in range(LINES))
    file.write_text(camt(*entries, closing="-99000.00"))
    written, memory = run(COMMAND, "reconcile", str(file), "--bank-account", ours.name)
    assert "5,000 of 100,000 lines" in written
    assert f"Open differences: {LINES}." in written
    assert memory < MOST_KIB
    assert ReportLine.objects.count() == LINES
