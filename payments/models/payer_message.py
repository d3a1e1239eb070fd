from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments.db.checks import checks
from payments.models.merchants.merchant import Merchant
from payments.models.outbox_message import OutboxMessage


class PayerMessage(OutboxMessage):
    """A message to a payer by e-mail or SMS; written in the transaction of its cause.

    What it says is read when it is sent, and kept in the row as it was sent.
    """

    # The unique constraint, which begins with the merchant, serves this key too.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    livemode = models.BooleanField()
    # An entry of `payments.domain.messages.kinds`.
    kind = models.CharField(max_length=20)
    channel = models.CharField(
        _("channel"), max_length=5, choices=OutboxMessage.Channel.choices[:2], default=OutboxMessage.Channel.EMAIL
    )
    # The object that it is about, and the object's version that caused it, or a number where no change did.
    about_id = models.UUIDField()
    sequence = models.PositiveIntegerField()
    locale = models.CharField(_("locale"), max_length=5, default="en")
    # To whom and what, once it was sent, or kept.
    recipient = models.CharField(_("recipient"), max_length=254, blank=True, default="")
    subject = models.CharField(_("subject"), max_length=255, blank=True, default="")
    text = models.TextField(blank=True, default="")

    class Meta:
        verbose_name = _("message to a payer")
        verbose_name_plural = _("messages to payers")
        default_permissions = ("view",)
        permissions = [("resend_payermessage", "Can send receipts again")]
        constraints = [
            models.UniqueConstraint(
                F("merchant"),
                F("about_id"),
                F("kind"),
                F("channel"),
                F("sequence"),
                name="payer_message_once_for_its_cause",
            ),
            *OutboxMessage.Meta.constraints,
            *checks(
                payer_message_channel_is_known=Q(channel__in=["email", "sms"]),
                payer_message_of_test_mode_stays=Q(livemode=True) | ~Q(state="sent"),
            ),
        ]
        indexes = [
            models.Index(
                F("channel"), F("merchant"), F("due_at"), name="payer_message_due", condition=Q(due_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id.hex[-8:]}"
