"""Workers and sweeps as their timers record them, some time ago."""

from datetime import timedelta
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Now

from payments.models import Sweep, WorkerProcess
from payments.sweeps import claims, heartbeats
from payments.sweeps.claims import Claim, Run
from payments.sweeps.timer import this_host

THREADS = 8
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


def a_worker(host: str = "", seen: timedelta = timedelta(), started: timedelta = 2 * HOUR) -> WorkerProcess:
    """Return a worker that was started and last seen so long ago, by the clock of the database."""
    worker = WorkerProcess(host=host or this_host(), pid=7, threads=THREADS)
    heartbeats.beat(worker.pk, worker.host, worker.pid, 0, THREADS)
    WorkerProcess.objects.filter(pk=worker.pk).update(seen_at=Now() - seen, started_at=Now() - max(started, seen))
    worker.refresh_from_db()
    return worker


def all_swept(worker: WorkerProcess) -> None:
    """Record that the worker has just run every sweep."""
    claims.register()
    taken = claims.claim(worker.pk, list(claims.SWEEPS), len(claims.SWEEPS))
    claims.finish(worker.pk, [Run(claim, 3, "") for claim in taken])


def one_claim(worker: UUID, name: str) -> Claim | None:
    """Return the claim of the sweep, None if it is not due."""
    return next(iter(claims.claim(worker, [name], 1)), None)


def let_pass(time: timedelta) -> None:
    """Move all that is recorded of the sweeps into the past."""
    Sweep.objects.update(
        due_at=F("due_at") - time,
        started_at=F("started_at") - time,
        finished_at=F("finished_at") - time,
        worked_at=F("worked_at") - time,
    )
