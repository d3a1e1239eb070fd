"""Bank files: payouts that finance sends to the bank together."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import checks

OPEN = Q(sent_at__isnull=True, cancelled_at__isnull=True)


class PayoutFile(models.Model):
    """Payouts of one currency that go to our bank in one ISO 20022 file, which is made of these rows at each download.

    It is open until it is sent or cancelled. Only `payments.domain.payouts.files` changes it.
    """

    MOST = 1_000
    OPEN = OPEN
    # As other rows say it: only live payouts go into files, of all merchants.
    livemode, merchant_id = True, None

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    currency = models.CharField(max_length=3)
    # How many payouts it has, and what they sum to.
    count = models.PositiveSmallIntegerField()
    total = models.BigIntegerField()
    # The day on which the bank is asked to pay.
    execute_on = models.DateField()
    # Our own account, as it was set when the file was made.
    debtor_name = models.CharField(max_length=70)
    debtor_bic = models.CharField(max_length=11)
    sealed_debtor_number = models.BinaryField()
    debtor_last4 = models.CharField(max_length=4)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    # The first download.
    downloaded_at = models.DateTimeField(null=True, blank=True)
    # When the request about it was approved.
    sent_at = models.DateTimeField(null=True, blank=True)
    cancelled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    cancelled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "bank file"
        default_permissions = ("view", "add")
        permissions = (
            ("download_payoutfile", "Can download bank files"),
            ("send_payoutfile", "Can mark bank files as sent and paid, and cancel them"),
        )
        constraints = checks(
            payout_file_in_bounds=Q(count__gte=1, count__lte=1_000, total__gte=F("count")),
            payout_file_downloaded_before_sent=Q(sent_at__isnull=True) | Q(downloaded_at__isnull=False),
            payout_file_sent_or_cancelled=Q(cancelled_at__isnull=True, cancelled_by__isnull=True)
            | Q(cancelled_at__isnull=False, cancelled_by__isnull=False, sent_at__isnull=True),
            # One person alone cannot send a file to the bank and have its payouts paid again.
            downloaded_payout_file_cancelled_by_another=Q(cancelled_by__isnull=True)
            | Q(downloaded_at__isnull=True)
            | ~Q(cancelled_by=F("created_by")),
        )

        indexes = [
            models.Index(F("created_at"), name="payout_file_open", condition=OPEN),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return f"kaha-payouts-{self.currency}-{self.created_at:%Y-%m-%d}-{self.id.hex}.xml"

    @property
    def is_open(self) -> bool:
        return self.sent_at is None and self.cancelled_at is None
