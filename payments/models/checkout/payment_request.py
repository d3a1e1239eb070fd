from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments.db.checks import checks
from payments.db.fast_model import FastModel
from payments.db.fields import OwnOneToOneField
from payments.models.checkout.checkout import Checkout
from payments.models.merchants.merchant import Merchant

# How often the message about a request may be sent again.
RESENDS_MAX = 10


class PaymentRequest(FastModel):
    """What a payment request, an invoice to one customer, has beside its checkout.

    One with a `source_id` collects itself: it tries to charge this kept card on each day of a schedule, until it ends.
    """

    class Ended(models.TextChoices):
        PAID = "paid", _("paid")
        VOIDED = "voided", _("voided")
        ADVICE = "advice", _("the card's bank advises against another try")
        EXHAUSTED = "exhausted", _("no day is left")
        STOPPED = "stopped", _("stopped")
        SOURCE_GONE = "source_gone", _("the card is not kept any more, or has expired")

    checkout = OwnOneToOneField(Checkout, models.PROTECT, primary_key=True, related_name="request")
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    livemode = models.BooleanField()
    # The number on the invoice: the end of the customer's ID in upper case, and the place among the requests with it.
    series = models.CharField(max_length=8)
    place = models.PositiveIntegerField()
    void_reason = models.CharField(max_length=255, blank=True, default="")
    # Whether the mail server, or the SMS service, took a message about it.
    email_delivered = models.BooleanField(default=False)
    sms_delivered = models.BooleanField(default=False)
    resends = models.PositiveSmallIntegerField(default=0)
    resent_at = models.DateTimeField(null=True, blank=True)
    # How many reminders are behind it, sent or not needed, and when the next one is due; empty after the last.
    reminders = models.PositiveSmallIntegerField(default=0)
    remind_at = models.DateTimeField(null=True, blank=True)
    # The kept source that is charged, on which days after `collect_from`, and whether as one of a series.
    source_id = models.UUIDField(null=True, blank=True)
    collect_schedule = ArrayField(models.SmallIntegerField(), null=True, blank=True)
    collect_recurring = models.BooleanField(default=False, db_default=False)
    collect_from = models.DateTimeField(null=True, blank=True)
    # The tries so far, and when the next one is due; empty while one is under way, and after the end.
    collect_tries = models.SmallIntegerField(default=0, db_default=0)
    collect_at = models.DateTimeField(null=True, blank=True)
    # Before this moment the card's network wants no other try.
    collect_after = models.DateTimeField(null=True, blank=True)
    collect_ended = models.CharField(max_length=11, choices=Ended.choices, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            # The merchant comes last: operators search for a number alone.
            models.UniqueConstraint(
                F("series"), F("place"), F("merchant"), F("livemode"), name="payment_request_number_is_unique"
            ),
            *checks(
                payment_request_resends_in_bounds=Q(resends__lte=RESENDS_MAX),
                payment_request_collects_a_source=Q(collect_at__isnull=True)
                | Q(source_id__isnull=False, collect_ended=""),
            ),
        ]
        indexes = [
            models.Index(F("remind_at"), name="payment_request_reminder", condition=Q(remind_at__isnull=False)),
            models.Index(F("collect_at"), name="payment_request_to_collect", condition=Q(collect_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.number

    @property
    def number(self) -> str:
        """The number on the invoice."""
        return f"{self.series}-{self.place:04d}"

    @property
    def is_collecting(self) -> bool:
        """Whether it collects itself, and has not ended."""
        return self.source_id is not None and not self.collect_ended

    @property
    def collect_state(self) -> str:
        """How its collecting stands: `waiting`, `trying` or `ended`."""
        return "ended" if self.collect_ended else "trying" if self.is_trying else "waiting"

    @property
    def is_trying(self) -> bool:
        """Whether the outcome of a try is open."""
        # A process of 0.9.0 that records a decline leaves no next day.
        return self.is_collecting and self.collect_at is None and self.checkout.state == Checkout.State.PAYING
