"""Reports that operators upload: what is refused, and what a worker makes of them, also one that dies."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.reconciliation import file_layouts, files, matcher, runs, uploads
from payments.domain.reconciliation.files import BadReport
from payments.models import AuditEntry, MerchantAccess, ReconciliationItem, ReconciliationRun, ReportLine, ReportUpload
from payments.staff.roles import ALL_MERCHANTS
from payments.tasks import run_sweep
from tests.admin.conftest import text_of
from tests.client import APPROVED, Api, signed_in
from tests.concurrency import at_once
from tests.reconciliation.factories import export, pay_in_every_way
from tests.simulator.factories import taken
from tests.support.web import database_url

pytestmark = [pytest.mark.long, pytest.mark.django_db]
HEAD = b"reference,simulator_reference,type,amount,currency,booked_at\n"
# A worker that is killed after it has stored the lines, before its transaction ends.
KILLED = """
import os, signal, django
django.setup()
from payments.domain.reconciliation import matcher, uploads
matcher.find_differences = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
uploads.read_due()
"""
PAGE = "admin:payments_reportupload_upload"
SignIn = Callable[..., Client]


@pytest.fixture
def operator(db: None) -> User:
    user = User.objects.create(username="maria", is_staff=True)
    user.groups.set(Group.objects.filter(name__in=["finance", ALL_MERCHANTS]))
    return user


@pytest.fixture
def client(operator: User) -> Client:
    return signed_in(operator)


@pytest.fixture
def raw(api: Api, tmp_path: Path) -> bytes:
    """Return the simulator's report of 15 movements of ours, and of one that only it knows."""
    pay_in_every_way(api)
    taken(APPROVED)
    return export(tmp_path / "report.csv").read_bytes()


def submit(raw: bytes, operator: User) -> ReportUpload:
    return uploads.submit("simulator", "november.csv", raw, operator, None, None)


def read(upload: ReportUpload) -> None:
    assert uploads.read_due()
    upload.refresh_from_db()


def send(client: Client, content: bytes, name: str = "november.csv", **fields: str) -> str:
    file = SimpleUploadedFile(name, content, "text/csv")
    return text_of(client.post(reverse(PAGE), {"provider": "simulator", "report": file} | fields, follow=True))


def test_an_uploaded_report_is_read_by_the_worker_and_destroyed(client: Client, raw: bytes) -> None:
    text = send(client, raw)
    assert 'http-equiv="refresh"' in text
    upload = ReportUpload.objects.get()
    assert (upload.state, upload.rows) == ("waiting", 16)
    assert raw[:40] not in bytes(upload.sealed_content or b"")
    assert run_sweep("read_uploaded_reports")
    upload.refresh_from_db()
    assert (upload.state, upload.rows_read, upload.sealed_content) == ("done", 16, None)
    run = ReconciliationRun.objects.get()
    assert (upload.run, run.started_by, run.file, run.lines, run.matched) == (run, "upload", "november.csv", 16, 15)
    assert run.differences == {"missing_here": 1}
    page = text_of(client.get(reverse("admin:payments_reportupload_change", args=[upload.pk])))
    assert reverse("admin:payments_reconciliationrun_change", args=[run.pk]) in page
    assert "16 of 16" in page
    assert 'http-equiv="refresh"' not in page
    assert AuditEntry.objects.get(action="added", object_id=str(upload.pk)).actor == "maria"


def test_a_card_number_where_the_name_of_a_report_is_cut_is_hidden_whole(operator: User) -> None:
    name = f"{'a' * 240} {APPROVED} of november.csv"
    assert uploads.submit("simulator", name, HEAD, operator, None, None).file == f"{'a' * 240} [redacted] of "


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The submitted file is empty."),
        (b"reference,amount\n", "column simulator_reference: must be there, once"),
        (HEAD + b"\x00", "it is no text"),
        (b"%PDF-1.4\n", "line 1, column reference"),
        (b"\n" * files.HEAD_CHARS + HEAD, "column reference: must be there, once"),
        (HEAD + b"x" * uploads.MAX_BYTES, "larger than 16"),
    ],
    ids=["empty", "other-columns", "binary", "pdf", "empty-lines", "too-large"],
)
def test_a_file_that_is_no_report_is_refused_with_the_reason(content: bytes, message: str, client: Client) -> None:
    assert message in send(client, content).replace("&#x27;", "'").replace("\xa0", " ")
    assert not ReportUpload.objects.exists()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"since": "2026-11-01"}, "Name both days, or none."),
        ({"since": "2026-11-02", "until": "2026-11-01"}, "It must not be before the first day."),
        ({"since": "2026-11-01", "until": "9999-12-31"}, "less than or equal to"),
        ({"since": "0001-01-01", "until": "2026-11-01"}, "greater than or equal to"),
    ],
)
def test_a_form_filled_in_wrong_is_refused_with_the_reason(
    fields: dict[str, str], message: str, client: Client
) -> None:
    assert message in send(client, HEAD, **fields)
    assert not ReportUpload.objects.exists()


def test_a_report_with_carriage_returns_alone_is_read_by_the_worker_and_not_in_the_request(operator: User) -> None:
    row = b"a,b,capture,1.00,PHP,2026-11-21T13:30:59.123456+0000\r"
    # A row that would refuse the report where it is read.
    upload = submit(HEAD.replace(b"\n", b"\r") + row * 3 + b'"', operator)
    assert upload.rows == 4
    read(upload)
    assert (upload.state, upload.rows, upload.run and upload.run.lines) == ("done", 4, 4)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("zone", ["+0000", "+1400", "-1200"])
def test_a_line_at_an_end_of_the_calendar_stops_no_worker(day: str, zone: str, raw: bytes, operator: User) -> None:
    upload = submit(raw + f"a,b,capture,1.00,PHP,{day}T00:00:00.000000{zone}\n".encode(), operator)
    read(upload)
    assert upload.run
    assert (upload.state, upload.tries, upload.run.matched) == ("done", 1, 15)
    item = ReconciliationItem.objects.get(kind="unread")
    assert (item.line and item.line.word) == "column booked_at: must be a time of the years 2000 to 2099"


def test_a_fault_inside_a_report_is_shown_with_its_line_and_column(client: Client, operator: User) -> None:
    upload = submit(HEAD + b"a,b,capture,much,PHP,2026-11-21T13:30:59.123456+0000\n", operator)
    read(upload)
    page = text_of(client.get(reverse("admin:payments_reportupload_change", args=[upload.pk])))
    assert "line 2, column amount: must be an amount of PHP" in page
    assert (upload.state, upload.sealed_content) == ("refused", None)
    assert not ReconciliationRun.objects.exists()


@pytest.mark.parametrize("groups", [["viewer", ALL_MERCHANTS], ["support", ALL_MERCHANTS], ["finance"]])
def test_only_finance_and_administrators_of_all_merchants_upload(
    groups: list[str], client: Client, operator: User, shop: NewMerchant
) -> None:
    operator.groups.set(Group.objects.filter(name__in=groups))
    MerchantAccess.objects.create(user=operator, merchant=shop.merchant)
    assert client.get(reverse(PAGE)).status_code == 403
    assert client.post(reverse(PAGE), {}).status_code == 403


def test_a_form_without_its_token_is_refused(operator: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    file = SimpleUploadedFile("november.csv", HEAD, "text/csv")
    assert client.post(reverse(PAGE), {"provider": "simulator", "report": file}).status_code == 403
    assert not ReportUpload.objects.exists()


def test_a_report_whose_reader_died_is_read_again_without_double_items(raw: bytes, operator: User) -> None:
    upload = submit(raw, operator)
    ReportUpload.objects.update(state="reading", due_at=clock.now() + uploads.DUE.lease, tries=1, rows_read=9)
    assert not uploads.read_due()
    ReportUpload.objects.update(due_at=clock.now())
    read(upload)
    assert (upload.state, upload.tries) == ("done", 2)
    assert (ReportLine.objects.count(), ReconciliationItem.objects.count()) == (16, 1)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_while_it_matches_leaves_the_report_to_the_next(raw: bytes, operator: User) -> None:
    upload = submit(raw, operator)
    environment = os.environ | {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "config.settings"}
    killed = subprocess.run([sys.executable, "-c", KILLED], env=environment, check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    upload.refresh_from_db()
    assert (upload.state, upload.tries) == ("reading", 1)
    assert not ReportLine.objects.exists()
    ReportUpload.objects.update(due_at=clock.now())
    read(upload)
    assert (upload.state, upload.run and upload.run.lines) == ("done", 16)
    assert (ReconciliationRun.objects.count(), ReconciliationItem.objects.count()) == (1, 1)


def test_a_reader_that_comes_late_stores_nothing(raw: bytes, operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    submit(raw, operator)
    real = runs.reconcile

    def ended_meanwhile(*args: object, **kwargs: object) -> ReconciliationRun:
        ReportUpload.objects.update(state="refused", sealed_content=None, due_at=None)
        return real(*args, **kwargs)

    monkeypatch.setattr(runs, "reconcile", ended_meanwhile)
    assert uploads.read_due()
    assert not ReconciliationRun.objects.exists()
    assert not ReportLine.objects.exists()


def test_a_report_that_stops_its_readers_is_given_up(raw: bytes, operator: User) -> None:
    upload = submit(raw, operator)
    ReportUpload.objects.update(state="reading", tries=uploads.MOST_TRIES)
    read(upload)
    assert (upload.state, upload.fault) == ("refused", uploads.STOPPED)


@pytest.mark.django_db(transaction=True)
def test_a_report_waits_while_another_run_of_its_provider_is_under_way(raw: bytes, operator: User) -> None:
    upload = submit(raw, operator)
    with transaction.atomic():
        assert matcher.lock("simulator")
        assert at_once(1, lambda _: uploads.read_due()) == [True]
    upload.refresh_from_db()
    assert (upload.state, upload.tries) == ("waiting", 0)
    assert not uploads.read_due()
    ReportUpload.objects.update(due_at=clock.now())
    read(upload)
    assert upload.state == "done"


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_reads_a_report(raw: bytes, operator: User) -> None:
    submit(raw, operator)
    assert sum(at_once(4, lambda _: uploads.read_due())) == 1
    assert ReconciliationRun.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_progress_is_seen_while_a_report_is_read(raw: bytes, operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    upload, seen = submit(raw, operator), []
    monkeypatch.setattr(uploads, "BEAT_SECONDS", 0.05)
    real = runs.reconcile

    def slowly(*args: object, **kwargs: object) -> ReconciliationRun:
        for _ in range(1500):
            upload.refresh_from_db()
            if upload.rows_read == upload.rows:
                break
            time.sleep(0.02)
        seen.append((upload.state, upload.rows_read))
        return real(*args, **kwargs)

    monkeypatch.setattr(runs, "reconcile", slowly)
    assert uploads.read_due()
    assert seen == [("reading", 16)]


@pytest.mark.parametrize("provider", ["adyen", "xendit"])
def test_an_upload_has_the_columns_of_its_provider(provider: str) -> None:
    with pytest.raises(BadReport):
        file_layouts.take(HEAD, provider)
