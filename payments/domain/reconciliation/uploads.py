"""Reports that operators upload: checked and sealed at once, and read by a worker, by the code of `reconcile`.

The row is the memory: a worker that dies leaves it `reading`, and the next sweep reads the report again from its
beginning. The run, its items and the end of the upload are one transaction, so nothing is stored twice.
"""

from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Self

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import QuerySet, Sum

from payments import clock
from payments.concurrency.bounded_process import HostBusy
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.due_rows import DueRows
from payments.domain.reconciliation import file_layouts, runs
from payments.domain.reconciliation.files import BadReport
from payments.domain.reconciliation.runs import Busy
from payments.failpoints import Failpoint, reached
from payments.models import ReconciliationRun, ReportUpload
from payments.sensitive_data.redaction import shortened
from payments.vault import Place, Purpose, VaultUnavailable, seal, unseal

FAULT_MAX_LENGTH = 300
# A worker keeps the report and its lines in memory. Larger ones are split by days, or read by `manage.py reconcile`.
MAX_BYTES = 16 * 1024 * 1024
MOST_WAITING = 5
# By one operator in 24 hours, read and refused ones included: each is written to the disk.
BYTES_A_DAY = 512 * 1024 * 1024
# Renewed at each beat: a reader that was silent for so long is dead.
DUE = DueRows(lease=timedelta(seconds=30), same=())
BEAT_SECONDS = 1.0
BUSY_PAUSE = timedelta(seconds=5)
# Readers that die over one report are stopped by it.
MOST_TRIES = 3
STOPPED = "The worker stopped three times while it read this report. Read it with `manage.py reconcile`."

State = ReportUpload.State


class TooMany(Exception):
    """The most reports that may wait are waiting, or the operator sent too much in a day; the message says which."""


class NotReading(Exception):
    """The upload ended otherwise meanwhile; nothing was changed."""


def submit(
    provider: str, name: str, raw: bytes, operator: User, since: datetime | None, until: datetime | None
) -> ReportUpload:
    """Store a report for a worker; return its upload.

    `provider` may be the name of a bank account of ours. What reads it is decided here. Raises BadReport as
    `file_layouts.take` does of more than MAX_BYTES, TooMany while MOST_WAITING wait, VaultUnavailable.
    """
    taken = file_layouts.take(raw, provider, MAX_BYTES)
    upload = ReportUpload(provider=provider, file=shortened(name, 255), size=len(raw), operator=operator)
    upload.covers_from, upload.covers_to = since, until
    upload.layout, upload.rows = taken.layout, taken.rows
    upload.sealed_content = seal(taken.content, _place(upload))
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Two operators at once would not count each other.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('kaha.report_uploads'), 0)")
        if _unread().count() >= MOST_WAITING:
            raise TooMany(f"{MOST_WAITING} reports wait already. Wait until they are read.")
        own = ReportUpload.objects.filter(operator=operator, created_at__gt=clock.now() - timedelta(days=1))
        if (own.aggregate(sent=Sum("size"))["sent"] or 0) + upload.size > BYTES_A_DAY:
            raise TooMany(f"You have uploaded {BYTES_A_DAY // 1024**2} MiB in a day. Upload the rest tomorrow.")
        upload.save(force_insert=True)
        audit_log.record(Action.ADDED, upload, detail=f"{upload.file}, {upload.size} bytes")
    return upload


def read_due() -> bool:
    """Read the upload that has waited longest, also after its reader died; return whether there was one."""
    claimed = DUE.claim(_unread(), lambda row: {"state": State.READING, "tries": row.tries + 1, "rows_read": 0})
    if not claimed:
        return False
    [upload] = claimed
    reached(Failpoint.CLAIMED)
    if upload.tries > MOST_TRIES:
        _refuse(upload, STOPPED)
        return True
    try:
        with Beat(upload) as beat:
            _read(upload, beat)
        reached(Failpoint.SETTLED)
    except BadReport as fault:
        _refuse(upload, f"{fault}.")
    except (Busy, VaultUnavailable, HostBusy):
        # Another run of the provider is under way, the key cannot be fetched, or no process can be started.
        DUE.put_off(upload, until=clock.now() + BUSY_PAUSE, state=State.WAITING, tries=upload.tries - 1)
    except NotReading:
        pass
    return True


def delete_expired() -> int:
    """Destroy the content of reports that nobody could read for a day; return how many."""
    expired = _unread().filter(expires_at__lte=clock.now())
    fault = "No worker could read it within a day."
    return expired.update(state=State.REFUSED, sealed_content=None, due_at=None, fault=fault)


class Beat:
    """Renews the lease of an upload and writes `rows_read` to it, by a thread with a connection of its own."""

    def __init__(self, upload: ReportUpload) -> None:
        self.rows_read = 0
        self._upload = upload
        self._ended = Event()
        self._thread = Thread(target=self._run, name="report-upload", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the thread; the upload's lease is what it renewed last."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._ended.wait(BEAT_SECONDS):
                DUE.renew(self._upload, rows_read=self.rows_read)
        finally:
            connection.close()


def _read(upload: ReportUpload, beat: Beat) -> None:
    def count(rows_read: int) -> None:
        beat.rows_read = rows_read

    content = unseal(upload.sealed_content or b"", _place(upload))
    file = file_layouts.TakenFile(upload.provider, content, upload.layout)
    report = file.report(upload.file, upload.covers_from, upload.covers_to, count)

    def finish(run: ReconciliationRun) -> None:
        reached(Failpoint.POSTED)
        # The row is locked from here on.
        beat.stop()
        rows = beat.rows_read
        if not DUE.end(upload, state=State.DONE, run=run, rows=rows, rows_read=rows, sealed_content=None):
            raise NotReading

    runs.reconcile(report, ReconciliationRun.Origin.UPLOAD, finish=finish)


def _refuse(upload: ReportUpload, fault: str) -> None:
    DUE.end(upload, state=State.REFUSED, fault=shortened(fault, FAULT_MAX_LENGTH), sealed_content=None)


def _unread() -> QuerySet[ReportUpload]:
    return ReportUpload.objects.filter(state__in=[State.WAITING, State.READING])


def _place(upload: ReportUpload) -> Place:
    return Place(Purpose.SECRET, upload.pk, upload.pk, "report")
