"""Saved views that are sent as files on a schedule, and the files."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import checks
from payments.models.books.payout_schedule import PayoutSchedule
from payments.models.merchants.merchant import Merchant
from payments.models.operators.saved_view import SavedView


class FileSchedule(models.Model):
    """When a saved view is sent as a file, and to whom; of the merchant whose site it was made on, if of any."""

    INTERVALS: ClassVar = PayoutSchedule.Interval.choices[1:]

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    view = models.ForeignKey(SavedView, models.CASCADE, related_name="+", db_index=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, null=True, blank=True, related_name="+")
    livemode = models.BooleanField()
    interval = models.CharField(_("interval"), max_length=7, choices=INTERVALS)
    # Also to the merchant's other people, those who may see the list.
    for_colleagues = models.BooleanField(_("colleagues get it too"), default=False)
    # The next regular file; empty while it is paused or has stopped.
    next_at = models.DateTimeField(null=True, blank=True)
    # When a worker makes a file, regular or asked for; while it makes one, when it counts as dead.
    due_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    # Why it has stopped: a sentence for its people.
    stopped = models.CharField(max_length=100, blank=True, default="")

    class Meta:
        verbose_name, verbose_name_plural = _("scheduled file"), _("scheduled files")
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(F("view"), F("merchant"), name="one_schedule_of_a_view", nulls_distinct=False),
            *checks(
                file_schedule_interval_is_known=Q(interval__in=["daily", "weekly", "monthly"]),
            ),
        ]
        indexes = [models.Index(F("due_at"), name="file_schedule_due", condition=Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return self.view.name


class SentFile(models.Model):
    """A file of a schedule: sealed, because a list may name payers, with a digest of the rows that its maker saw."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    schedule = models.ForeignKey(FileSchedule, models.CASCADE, related_name="files")
    merchant = models.ForeignKey(Merchant, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    rights = models.BinaryField(max_length=32)
    size = models.PositiveIntegerField()
    sealed_content = models.BinaryField()
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ()
