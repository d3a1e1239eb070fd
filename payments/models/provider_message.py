from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.models.correction import NOTE_MAX_LENGTH, SOMETHING_WRITTEN, free_of_secrets
from payments.models.provider_account import ProviderAccount

TOLD_MAX_LENGTH = 255
WHY_MAX_LENGTH = 300


class ProviderMessage(models.Model):
    """A message that a provider sent to the address of an account, kept as it came once its signature was found right.

    What it was signed by is not kept, for that may be a secret.
    """

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The constraint's index begins with the account.
    account = models.ForeignKey(ProviderAccount, models.PROTECT, related_name="messages", db_index=False)
    body = models.BinaryField()
    # SHA-256 of the body, so that one that is sent again is the same row.
    digest = models.BinaryField(max_length=32)
    received_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(F("account"), F("digest"), name="provider_message_is_unique")]
        indexes = [models.Index(F("received_at"), name="provider_message_age")]

    def __str__(self) -> str:
        return f"provider message {self.id.hex}"


class ProviderEvent(models.Model):
    """One thing that a webhook reports, until it is applied; what is told again, in whatever message, is one row."""

    class State(models.TextChoices):
        WAITING = "waiting"
        APPLIED = "applied"
        NEEDS_ATTENTION = "needs_attention", "needs attention"  # nothing was moved, and an operator must look
        NO_NEWS = "no_news", "no news"  # it says nothing that is to be acted on
        NOT_OURS = "not_ours", "not ours"  # it is about nothing that a charge of ours asked for
        CLOSED = "closed"  # an operator looked, and said what it was

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    message = models.ForeignKey(ProviderMessage, models.CASCADE, related_name="events")
    account = models.ForeignKey(ProviderAccount, models.PROTECT, related_name="+", db_index=False)
    # The provider's own mark of what it tells; empty where it gives none.
    key = models.CharField(max_length=TOLD_MAX_LENGTH, blank=True, db_collation="C")
    # Our name of what it is about, and the provider's, as they were told.
    reference = models.CharField(max_length=TOLD_MAX_LENGTH, blank=True, db_collation="C")
    provider_ref = models.CharField(max_length=TOLD_MAX_LENGTH, blank=True)
    # The payment that it says it is about, by our name or the provider's, where that is told beside.
    payment = models.CharField(max_length=TOLD_MAX_LENGTH, blank=True, default="")
    # What was told of it, by name and as JSON; empty where the provider must be asked.
    outcome = models.CharField(max_length=20, blank=True)
    told = models.TextField(blank=True)
    amount = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    state = models.CharField(max_length=15, choices=State.choices, default=State.WAITING)
    # Why an operator must look, what keeps it from being applied, or why it never will be.
    why = models.CharField(max_length=WHY_MAX_LENGTH, blank=True)
    tries = models.PositiveIntegerField(default=0)
    # When it is taken in hand next; while somebody has it in hand, when they are taken for dead.
    due_at = models.DateTimeField(null=True, blank=True, default=clock.now)
    # What it was and what was done about it; who closed it, and when.
    note = models.CharField(max_length=NOTE_MAX_LENGTH, blank=True, default="", validators=[free_of_secrets])
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    closed_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ()
        permissions = [("close_providerevent", "Can close provider events that need attention")]
        constraints = [
            models.UniqueConstraint(F("account"), F("key"), name="provider_event_is_unique", condition=~Q(key="")),
            models.CheckConstraint(
                name="provider_event_waiting_has_due_at",
                condition=Q(state="waiting", due_at__isnull=False) | ~Q(state="waiting") & Q(due_at__isnull=True),
            ),
            models.CheckConstraint(
                name="provider_event_attention_has_reason", condition=~Q(state="needs_attention") | ~Q(why="")
            ),
            models.CheckConstraint(
                name="provider_event_closed_by_operator",
                condition=~Q(state="closed") & Q(note="", closed_by__isnull=True, closed_at__isnull=True)
                | Q(state="closed", note__regex=SOMETHING_WRITTEN, closed_by__isnull=False, closed_at__isnull=False),
            ),
        ]
        indexes = [
            models.Index(F("due_at"), name="provider_event_due", condition=Q(due_at__isnull=False)),
            models.Index(F("reference"), F("account"), name="provider_event_of_reference"),
            models.Index(F("payment"), name="provider_event_of_payment", condition=~Q(payment="")),
            models.Index(F("id"), name="provider_event_attention", condition=Q(state="needs_attention")),
        ]

    def __str__(self) -> str:
        return self.key or self.reference or self.id.hex
