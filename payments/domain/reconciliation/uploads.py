"""Reports that operators upload: checked and sealed at once, and read by a worker, by the code of `reconcile`.

The row is the memory: a worker that dies leaves it `reading`, and the next sweep reads the report again from its
beginning. The run, its items and the end of the upload are one transaction, so nothing is stored twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Thread

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet, Sum

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.reconciliation import files, runs
from payments.domain.reconciliation.files import BadReport
from payments.domain.reconciliation.layouts import LAYOUTS
from payments.domain.reconciliation.runs import Busy
from payments.models import ReconciliationRun, ReportUpload
from payments.vault import Place, Purpose, VaultUnavailable, seal, unseal

# A worker keeps the report and its lines in memory. Larger ones are split by days, or read by `manage.py reconcile`.
MAX_BYTES = 16 * 1024 * 1024
MOST_WAITING = 5
# By one operator in 24 hours, read and refused ones included: each is written to the disk.
BYTES_A_DAY = 512 * 1024 * 1024
# A reader that was silent for so long is dead.
DEAD_AFTER = timedelta(seconds=30)
BEAT_SECONDS = 1.0
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

    Raises BadReport unless it is a text of at most MAX_BYTES with the provider's columns, TooMany while MOST_WAITING
    wait, VaultUnavailable.
    """
    text = checked(raw, provider)
    upload = ReportUpload(provider=provider, file=name[:255], size=len(raw), operator=operator)
    upload.covers_from, upload.covers_to, upload.rows = since, until, files.rows_in(text)
    upload.sealed_content = seal(text, _place(upload))
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Two operators at once would not count each other.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('kaha.report_uploads'), 0)")
        if _unread().count() >= MOST_WAITING:
            raise TooMany(f"{MOST_WAITING} reports wait already. Wait until they are read.")
        if _sent_today(operator) + upload.size > BYTES_A_DAY:
            raise TooMany(f"You have uploaded {BYTES_A_DAY // 1024**2} MiB in a day. Upload the rest tomorrow.")
        upload.save(force_insert=True)
        audit_log.record(Action.ADDED, upload, detail=f"{upload.file}, {upload.size} bytes")
    return upload


def _sent_today(operator: User) -> int:
    own = ReportUpload.objects.filter(operator=operator, created_at__gt=clock.now() - timedelta(days=1))
    return own.aggregate(sent=Sum("size"))["sent"] or 0


def checked(raw: bytes, provider: str) -> str:
    """Return the text of a report; raise BadReport as `submit` does."""
    if len(raw) > MAX_BYTES:
        raise BadReport(f"it is larger than {MAX_BYTES // 1024**2} MiB; split it by days")
    text = files.decode(raw)
    files.check_head(text, LAYOUTS[provider])
    return text


def read_due() -> bool:
    """Read the upload that has waited longest, also after its reader died; return whether there was one."""
    upload = _claim()
    if upload is None:
        return False
    if upload.tries > MOST_TRIES:
        _refuse(upload, STOPPED)
        return True
    with _alive(upload) as progress:
        try:
            _read(upload, progress)
        except BadReport as fault:
            _refuse(upload, f"{fault}.")
        except (Busy, VaultUnavailable):
            # Another run of the provider is under way, or the key cannot be fetched: it is tried again soon.
            _reading(upload).update(state=State.WAITING, alive_at=clock.now(), tries=F("tries") - 1)
        except NotReading:
            pass
    return True


def delete_expired() -> int:
    """Destroy the content of reports that nobody could read for a day; return how many."""
    expired = _unread().filter(expires_at__lte=clock.now())
    return expired.update(state=State.REFUSED, sealed_content=None, fault="No worker could read it within a day.")


class Progress:
    """How many rows of a report are read; its thread writes it to the upload."""

    def __init__(self) -> None:
        self.rows_read = 0


def _read(upload: ReportUpload, progress: Progress) -> None:
    layout = LAYOUTS[upload.provider]

    def count(rows_read: int) -> None:
        progress.rows_read = rows_read

    text = unseal(upload.sealed_content or b"", _place(upload))
    lines = files.parse(text, layout, count)
    report = runs.report_of(lines, layout, upload.covers_from, upload.covers_to, upload.file)

    def finish(run: ReconciliationRun) -> None:
        rows = progress.rows_read
        done = {"state": State.DONE, "run": run, "rows": rows, "rows_read": rows, "sealed_content": None}
        if not _reading(upload).update(**done):
            raise NotReading

    runs.reconcile(report, ReconciliationRun.Origin.UPLOAD, finish=finish)


def _claim() -> ReportUpload | None:
    """Return the next upload to read, marked as this reader's; None if there is none."""
    now = clock.now()
    free = Q(state=State.WAITING) & (Q(alive_at=None) | Q(alive_at__lte=now - timedelta(seconds=5)))
    dead = Q(state=State.READING, alive_at__lte=now - DEAD_AFTER)
    with transaction.atomic():
        rows = ReportUpload.objects.filter(free | dead).order_by("created_at")
        upload = rows.select_for_update(skip_locked=True, of=("self",)).first()
        if upload:
            upload.state, upload.alive_at, upload.tries = State.READING, now, upload.tries + 1
            upload.rows_read = 0
            upload.save(update_fields=["state", "alive_at", "tries", "rows_read"])
    return upload


@contextmanager
def _alive(upload: ReportUpload) -> Iterator[Progress]:
    """Write progress and life to the row until the block ends, by a thread with a connection of its own."""
    progress, ended = Progress(), Event()

    def beat() -> None:
        try:
            while not ended.wait(BEAT_SECONDS):
                _reading(upload).update(alive_at=clock.now(), rows_read=progress.rows_read)
        finally:
            connection.close()

    thread = Thread(target=beat, name="report-upload", daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        ended.set()
        thread.join()


def _refuse(upload: ReportUpload, fault: str) -> None:
    _reading(upload).update(state=State.REFUSED, fault=fault[:300], sealed_content=None)


def _reading(upload: ReportUpload) -> QuerySet[ReportUpload]:
    return ReportUpload.objects.filter(pk=upload.pk, state=State.READING)


def _unread() -> QuerySet[ReportUpload]:
    return ReportUpload.objects.filter(state__in=[State.WAITING, State.READING])


def _place(upload: ReportUpload) -> Place:
    return Place(Purpose.SECRET, upload.pk, upload.pk, "report")
