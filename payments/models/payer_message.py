from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.fast_model import FastModel
from payments.models.merchants.merchant import Merchant

WHY_MAX_LENGTH = 100


class PayerMessage(FastModel):
    """A message to a payer by e-mail or SMS; written in the transaction of its cause, and sent by a worker.

    What it says is read when it is sent, and kept in the row as it was sent.
    """

    class Channel(models.TextChoices):
        EMAIL = "email", _("e-mail")
        SMS = "sms", "SMS"

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        SENT = "sent", _("Sent")  # the mail server, or the SMS service, took it
        KEPT = "kept", _("Kept")  # of test mode, which sends nothing
        DROPPED = "dropped", _("Dropped")  # nobody to send it to, or not needed any more
        GIVEN_UP = "given_up", _("given up")  # refused for good, or not taken for three days

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The unique constraint, which begins with the merchant, serves this key too.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    livemode = models.BooleanField()
    # An entry of `payments.domain.payer_messages.kinds`.
    kind = models.CharField(max_length=20)
    channel = models.CharField(_("channel"), max_length=5, choices=Channel.choices, default=Channel.EMAIL)
    # The object that it is about, and the object's version that caused it, or a number where no change did.
    about_id = models.UUIDField()
    sequence = models.PositiveIntegerField()
    locale = models.CharField(_("locale"), max_length=5, default="en")
    # To whom and what, once it was sent, or kept.
    recipient = models.CharField(_("recipient"), max_length=254, blank=True, default="")
    subject = models.CharField(_("subject"), max_length=255, blank=True, default="")
    text = models.TextField(blank=True, default="")
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.WAITING)
    # Why it was not sent.
    why = models.CharField(_("why"), max_length=WHY_MAX_LENGTH, blank=True, default="")
    # Tries that failed.
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    # When it is to be sent; while it is being sent, when another worker may do so.
    due_at = models.DateTimeField(null=True, blank=True, default=clock.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)

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
            models.CheckConstraint(
                name="payer_message_waiting_is_due",
                condition=Q(state="waiting", due_at__isnull=False, ended_at__isnull=True)
                | ~Q(state="waiting") & Q(due_at__isnull=True, ended_at__isnull=False),
            ),
            models.CheckConstraint(name="payer_message_channel_is_known", condition=Q(channel__in=["email", "sms"])),
            models.CheckConstraint(
                name="payer_message_of_test_mode_stays", condition=Q(livemode=True) | ~Q(state="sent")
            ),
        ]
        indexes = [
            models.Index(
                F("channel"), F("merchant"), F("due_at"), name="payer_message_due", condition=Q(due_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id.hex[-8:]}"
