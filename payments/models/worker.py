from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from payments import ids
from payments.db.checks import checks

HOST_MAX_LENGTH = 100


class WorkerProcess(models.Model):
    """A worker and when it was last seen; its timer writes this every few seconds, and old rows are deleted."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    host = models.CharField(max_length=HOST_MAX_LENGTH)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    # When it stopped in good order.
    ended_at = models.DateTimeField(null=True)
    # The threads that run sweeps, of all that it has.
    busy = models.PositiveIntegerField(default=0)
    threads = models.PositiveIntegerField()

    class Meta:
        default_permissions = ()
        constraints = checks(
            worker_process_is_seen_after_its_start=Q(seen_at__gte=F("started_at")),
        )

    def __str__(self) -> str:
        return f"{self.host}, process {self.pid}"


class Sweep(models.Model):
    """A sweep that the workers repeat: when it is due again, how its last run ended, and its oldest due item.

    By the clock of the database, because the clocks of the workers' hosts differ.
    """

    name = models.CharField(primary_key=True, max_length=60)
    # When a worker may run it; while it runs and only one worker may run it, when that worker counts as dead.
    due_at = models.DateTimeField(db_default=Now())
    # Of the newest run: its worker and its start.
    worker = models.UUIDField(null=True)
    started_at = models.DateTimeField(null=True)
    # Of the newest run that ended: its end, its duration, and the class of its error, "" if it worked.
    finished_at = models.DateTimeField(null=True)
    milliseconds = models.PositiveIntegerField(null=True)
    error = models.CharField(max_length=100, default="")
    worked_at = models.DateTimeField(null=True)
    # Since when the oldest item that it should have taken is due; empty if none is.
    oldest_due_at = models.DateTimeField(null=True)
    # Since when each measure finds such an item; empty if the last one found none.
    due_since = models.DateTimeField(null=True)
    measured_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ("view",)
        constraints = checks(
            sweep_run_has_a_worker=Q(worker__isnull=True, started_at__isnull=True)
            | Q(worker__isnull=False, started_at__isnull=False),
            sweep_result_has_an_end=Q(finished_at__isnull=False)
            | Q(error="", worked_at__isnull=True, milliseconds__isnull=True),
        )

    def __str__(self) -> str:
        return self.name.replace("_", " ").capitalize()
