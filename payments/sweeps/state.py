"""The state of the workers and their sweeps: who is silent, and which sweep is behind. Two reads by primary keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from payments.models import Sweep, WorkerProcess
from payments.sweeps.heartbeats import SILENT_SECONDS
from payments.sweeps.table import SWEEPS

# A sweep is behind when nobody takes it for so long; when it fails or leaves something out, for its interval more.
BEHIND = timedelta(seconds=60)
# Only checks of everything and reports of a year take a part of this.
RUN_MAX = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class BehindSweep:
    """A sweep that is behind: why, in plain words, and since when."""

    sweep: Sweep
    why: str
    since: datetime


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What the workers have recorded, and the time of the database, by which they record."""

    now: datetime
    workers: Sequence[WorkerProcess]
    sweeps: Sequence[Sweep]

    @property
    def alive(self) -> list[WorkerProcess]:
        return [worker for worker in self.workers if not (worker.ended_at or self._is_silent(worker))]

    @property
    def silent(self) -> list[WorkerProcess]:
        """Return the workers that ended without a word, and in whose place none has started on their host."""
        return [
            worker
            for worker in self.workers
            if self._is_silent(worker)
            and not worker.ended_at
            and not any(other.host == worker.host and other.started_at > worker.seen_at for other in self.alive)
        ]

    @property
    def none_since(self) -> datetime | None:
        """Return since when no worker works; None while one does, or if none ever did."""
        return None if self.alive else max((worker.seen_at for worker in self.workers), default=None)

    def behind(self) -> list[BehindSweep]:
        """Return the sweeps that are behind although a worker works."""
        return [found for sweep in self.sweeps if self.alive and (found := self._behind(sweep))]

    def _is_silent(self, worker: WorkerProcess) -> bool:
        return self.now - worker.seen_at > timedelta(seconds=SILENT_SECONDS)

    def _behind(self, sweep: Sweep) -> BehindSweep | None:
        if sweep.due_at < self.now - BEHIND:
            return BehindSweep(sweep, "no worker runs it", sweep.due_at)
        is_over = sweep.started_at is None or (sweep.finished_at is not None and sweep.finished_at >= sweep.started_at)
        if not (is_over or SWEEPS[sweep.name].shared) and sweep.started_at and sweep.started_at < self.now - RUN_MAX:
            return BehindSweep(sweep, "it runs and does not end", sweep.started_at)
        margin = BEHIND + timedelta(seconds=SWEEPS[sweep.name].seconds)
        worked_at = sweep.worked_at or min(worker.started_at for worker in self.alive)
        if sweep.error and worked_at < self.now - margin:
            return BehindSweep(sweep, f"it fails with {sweep.error}", worked_at)
        # What was made with a due time long past, as by a restore or a demo, waits since it was first found.
        waits_since = max(filter(None, [sweep.oldest_due_at, sweep.due_since]), default=self.now)
        if waits_since < self.now - margin:
            return BehindSweep(sweep, "something that is due was not taken", waits_since)
        return None


def read_state() -> WorkerState:
    """Return the state; of sweeps that this version does not know, nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [now] = cursor.fetchone()
    workers = list(WorkerProcess.objects.order_by("host", "started_at"))
    return WorkerState(now, workers, list(Sweep.objects.filter(name__in=SWEEPS).order_by("name")))
