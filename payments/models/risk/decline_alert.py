from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import checks
from payments.db.fields import OwnForeignKey
from payments.models.charging.charge import Charge
from payments.models.charging.source import Source
from payments.models.merchants.merchant import Merchant

SHOWN_FOR = timedelta(days=1)


class DeclineAlertQuerySet(models.QuerySet["DeclineAlert"]):
    def recent(self) -> Self:
        """Return the alerts that nobody has acknowledged yet, newest first, for a day, with their merchants."""
        recent = self.filter(created_at__gt=clock.now() - SHOWN_FOR, acknowledged_at=None)
        return recent.select_related("merchant").order_by("-created_at")


class DeclineAlert(models.Model):
    """An alert that declines reached their limit in one window, as in card testing, for operators to check."""

    class Kind(models.TextChoices):
        CARD = "card", "on one card"
        ADDRESS = "address", "from one address"
        KEY = "key", "by one key"
        MERCHANT = "merchant", "of the merchant in all"

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    # What was counted, and the subject that reached the limit first: a masked card, an address or a key's ID.
    kind = models.CharField(max_length=8, choices=Kind.choices)
    subject = models.TextField(blank=True)
    quota = models.PositiveIntegerField()
    # Whose decline reached the limit: a source, and its charge unless its card was only checked to be kept.
    source = OwnForeignKey(Source, models.PROTECT, related_name="+", db_index=False)
    charge = OwnForeignKey(Charge, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    window_starts_at = models.DateTimeField()
    # Such charges are refused until then.
    window_ends_at = models.DateTimeField()
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    # When declines had been below the limit for a whole window again.
    over_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    objects = DeclineAlertQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        permissions = [("acknowledge_declinealert", "Can acknowledge decline alerts")]
        constraints = [
            models.UniqueConstraint(
                F("merchant"), F("livemode"), F("kind"), F("window_starts_at"), name="one_decline_alert_per_window"
            ),
            *checks(
                decline_alert_window_has_an_end=Q(window_ends_at__gt=F("window_starts_at")),
                decline_alert_acknowledged_whole=Q(acknowledged_at__isnull=True, acknowledged_by__isnull=True)
                | Q(acknowledged_at__isnull=False, acknowledged_by__isnull=False),
            ),
        ]
        indexes = [
            models.Index(F("created_at"), name="decline_alert_recent"),
            models.Index(F("window_ends_at"), name="decline_alert_not_over", condition=Q(over_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.merchant_id.hex}"
