from django.db import models
from django.db.models import F, Q

from payments.db.fast_model import FastModel
from payments.db.fields import OwnOneToOneField
from payments.models.checkout.checkout import Checkout
from payments.models.merchants.merchant import Merchant

# How often the message about a request may be sent again.
RESENDS_MAX = 10


class PaymentRequest(FastModel):
    """What a payment request, an invoice to one customer, has beside its checkout."""

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

    class Meta:
        constraints = [
            # The merchant comes last: operators search for a number alone.
            models.UniqueConstraint(
                F("series"), F("place"), F("merchant"), F("livemode"), name="payment_request_number_is_unique"
            ),
            models.CheckConstraint(name="payment_request_resends_in_bounds", condition=Q(resends__lte=RESENDS_MAX)),
        ]
        indexes = [
            models.Index(F("remind_at"), name="payment_request_reminder", condition=Q(remind_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.number

    @property
    def number(self) -> str:
        """The number on the invoice."""
        return f"{self.series}-{self.place:04d}"
