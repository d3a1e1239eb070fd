from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock, ids

KEPT = timedelta(hours=24)


def _expiry() -> datetime:
    return clock.now() + KEPT


class Export(models.Model):
    """A list as a CSV file for the operator who requested it, written by a worker in parts and deleted after a day."""

    class State(models.TextChoices):
        WAITING = "waiting"  # for its next part to be written
        DONE = "done"
        REFUSED = "refused"  # the operator may not see the list any more

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    operator = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    sheet = models.CharField(max_length=20)
    # The list's filters, as its query string.
    query = models.TextField(blank=True)
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    expected_rows = models.PositiveBigIntegerField()
    rows = models.PositiveBigIntegerField(default=0)
    parts = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    # The next part begins after this row.
    last_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)
    expires_at = models.DateTimeField(default=_expiry, editable=False)

    class Meta:
        default_permissions = ("view", "add")
        constraints = [
            models.CheckConstraint(name="export_state_is_known", condition=Q(state__in=["waiting", "done", "refused"])),
        ]
        indexes = [
            models.Index(F("updated_at"), name="export_waiting", condition=Q(state="waiting")),
            models.Index(F("expires_at"), name="export_expires"),
        ]

    def __str__(self) -> str:
        return f"{self.sheet} {self.id.hex}"


class ExportPart(models.Model):
    """A part of the file; `number` begins at 0."""

    export = models.ForeignKey(Export, models.CASCADE, related_name="written", db_index=False)
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(F("export"), F("number"), name="export_part_once")]

    def __str__(self) -> str:
        return f"{self.export_id.hex} {self.number}"
