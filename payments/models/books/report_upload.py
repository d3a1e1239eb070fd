from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import checks
from payments.models.books.reconciliation import PROVIDER_LENGTH, FileLayout, ReconciliationRun

KEPT = timedelta(hours=24)


def expiry() -> datetime:
    return clock.now() + KEPT


class ReportUpload(models.Model):
    """A provider's report that an operator uploaded, for a worker to read.

    Its content is sealed, because a report may name payers, and destroyed once it is read, refused or a day old.
    """

    class State(models.TextChoices):
        WAITING = "waiting"  # for a worker, also again after one died
        READING = "reading"
        DONE = "done"
        REFUSED = "refused"  # for its content

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    operator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", db_index=False)
    provider = models.CharField(max_length=PROVIDER_LENGTH)
    file = models.CharField(max_length=255)
    size = models.PositiveIntegerField()
    sealed_content = models.BinaryField(null=True, blank=True, editable=False)
    # What reads it, if no fixed format does: its content is bytes in base64 then.
    layout = models.ForeignKey(FileLayout, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    # The time that the report covers, if the operator named it.
    covers_from = models.DateTimeField(null=True, blank=True)
    covers_to = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    # Rows below the header, about as many until all are read, and how many of them are.
    rows = models.PositiveIntegerField(default=0)
    rows_read = models.PositiveIntegerField(default=0)
    # Why it was refused, with line and column.
    fault = models.CharField(max_length=300, blank=True, default="")
    # The run that read it.
    run = models.OneToOneField(ReconciliationRun, models.PROTECT, null=True, blank=True, related_name="upload")
    # When it is read next; while it is read, when its reader counts as dead. And how many readers began.
    due_at = models.DateTimeField(null=True, blank=True, default=clock.now)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    expires_at = models.DateTimeField(default=expiry, editable=False)

    class Meta:
        default_permissions = ("view", "add")
        constraints = checks(
            report_upload_has_content_until_read=Q(
                state__in=["waiting", "reading"], sealed_content__isnull=False, due_at__isnull=False
            )
            | Q(state__in=["done", "refused"], sealed_content__isnull=True, due_at__isnull=True),
            report_upload_done_by_a_run=Q(state="done", run__isnull=False) | ~Q(state="done"),
        )
        indexes = [
            models.Index(F("due_at"), name="report_upload_to_read", condition=Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.file} of {self.provider}"
