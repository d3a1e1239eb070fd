"""Heartbeats of the workers, by the clock of the database."""

from uuid import UUID

from django.db import connection
from django.db.models.functions import Now

from payments.models import WorkerProcess

# A worker that was not seen for longer counts as dead; while others work, it is listed for an hour.
SILENT_SECONDS = 60.0
LISTED_SECONDS = 3600.0
# However often workers start and die, so many rows stay.
ROWS_MAX = 100

BEAT = """
INSERT INTO payments_workerprocess (id, host, pid, busy, threads) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (id) DO UPDATE SET seen_at = statement_timestamp(), busy = EXCLUDED.busy
"""

# The last one that was seen stays: it says since when there has been none.
DELETE_OLD = """
DELETE FROM payments_workerprocess WHERE id IN (
    SELECT id FROM (
        SELECT id, seen_at, row_number() OVER (ORDER BY seen_at DESC) AS number FROM payments_workerprocess
    ) AS numbered
    WHERE number > %s OR number > 1 AND seen_at < statement_timestamp() - make_interval(secs => %s)
)
"""


def beat(worker: UUID, host: str, pid: int, busy: int, threads: int) -> None:
    """Record that the worker works, with `busy` of its threads."""
    with connection.cursor() as cursor:
        cursor.execute(BEAT, [worker, host, pid, busy, threads])


def end(worker: UUID) -> None:
    """Record that the worker stops in good order."""
    WorkerProcess.objects.filter(id=worker).update(ended_at=Now())


def delete_old() -> None:
    """Delete the rows of workers that have been silent for long, and all above ROWS_MAX."""
    with connection.cursor() as cursor:
        cursor.execute(DELETE_OLD, [ROWS_MAX, LISTED_SECONDS])
