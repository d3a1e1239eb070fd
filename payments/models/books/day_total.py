"""Daily totals of charges, computed once for the admin's pages."""

from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import checks
from payments.models.merchants.merchant import Merchant

# In place of a source type.
SESSION = "checkout_session"


class DayTotal(models.Model):
    """The number and amount of one kind of charges, or of checkout sessions, on a day (UTC).

    A charge or session counts on the day of its creation with its whole amount. Once it has ended, a later capture,
    void, refund or expiry does not change its outcome here; only a pending one may change.
    """

    class Outcome(models.TextChoices):
        APPROVED = "approved"  # captured or held, whatever happened later
        DECLINED = "declined"
        ABANDONED = "abandoned"  # the payer left, or the time to confirm ran out: no decline
        PENDING = "pending"

    day = models.DateField()
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    currency = models.CharField(max_length=3)
    # `checkout_session` stands for sessions, which are approved when they are paid or held.
    source_type = models.CharField(max_length=20)
    # Where the charge was authorized or declined at last.
    provider = models.CharField(max_length=40)
    outcome = models.CharField(max_length=9, choices=Outcome.choices)
    # For a decline or a payer who left, its code of `failure_data`.
    reason = models.CharField(max_length=30, blank=True, default="")
    count = models.PositiveIntegerField()
    amount = models.BigIntegerField()

    class Meta:
        default_permissions = ("view",)
        # Of the page of a merchant.
        indexes = [models.Index(F("merchant"), F("day"), name="day_total_of_merchant")]
        constraints = [
            # In the order of the queries: one day is written, days of one mode are read.
            models.UniqueConstraint(
                *(F("day"), F("livemode"), F("currency"), F("merchant"), F("source_type"), F("provider")),
                *(F("outcome"), F("reason")),
                name="one_total_per_day_and_kind",
            ),
            *checks(
                day_total_of_something=Q(count__gte=1, amount__gte=1) | Q(count__gte=1, amount=0, source_type=SESSION),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.source_type} {self.outcome} {ids.public_id('mer', self.merchant_id)}"


class SummedDay(models.Model):
    """A day (UTC) whose totals are computed, again while charges of it are `pending`, and once its sessions ended."""

    day = models.DateField(primary_key=True)
    pending = models.PositiveIntegerField(default=0)
    summed_at = models.DateTimeField(default=clock.now)

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return str(self.day)
