from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import checks
from payments.db.fields import OwnForeignKey
from payments.models.merchants.merchant import Merchant
from payments.models.operators.reasons import NOTE_MAX_LENGTH, SOMETHING_WRITTEN, free_of_secrets
from payments.models.routing.provider_account import ProviderAccount

TEXT_MAX_LENGTH = 255
WHY_MAX_LENGTH = 300


class ProviderMessage(models.Model):
    """A message that a provider sent to the address of an account, stored as it came after its signature was verified.

    The signature is not stored, because it may be a secret.
    """

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The account's.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    # The constraint's index begins with the account.
    account = models.ForeignKey(ProviderAccount, models.PROTECT, related_name="messages", db_index=False)
    body = models.BinaryField()
    # SHA-256 of the body: a repeated message is the same row.
    digest = models.BinaryField(max_length=32)
    received_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(F("account"), F("digest"), name="provider_message_is_unique")]
        indexes = [models.Index(F("received_at"), name="provider_message_age")]

    def __str__(self) -> str:
        return f"provider message {self.id.hex}"


class ProviderEvent(models.Model):
    """One event in a provider's message and its state; an event with the same key is one row."""

    class State(models.TextChoices):
        WAITING = "waiting"
        APPLIED = "applied"
        NEEDS_ATTENTION = "needs_attention", "needs attention"  # an operator must look; what moved is in the books
        NO_NEWS = "no_news", "no news"  # no action follows from it
        NOT_OURS = "not_ours", "not ours"  # no charge of ours asked for it
        CLOSED = "closed"  # an operator closed it with a note

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The account's.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    message = OwnForeignKey(ProviderMessage, models.CASCADE, related_name="events")
    account = models.ForeignKey(ProviderAccount, models.PROTECT, related_name="+", db_index=False)
    # The provider's own key of the event; empty where it has none.
    key = models.CharField(max_length=TEXT_MAX_LENGTH, blank=True, db_collation="C")
    # Our reference and the provider's, as they were sent.
    reference = models.CharField(max_length=TEXT_MAX_LENGTH, blank=True, db_collation="C")
    provider_ref = models.CharField(max_length=TEXT_MAX_LENGTH, blank=True)
    # The payment's reference, ours or the provider's, where the message has it too.
    payment = models.CharField(max_length=TEXT_MAX_LENGTH, blank=True, default="")
    # The outcome's class and its members as JSON; empty where the provider must be asked.
    outcome = models.CharField(max_length=20, blank=True)
    outcome_json = models.TextField(blank=True)
    amount = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    state = models.CharField(max_length=15, choices=State.choices, default=State.WAITING)
    # Why an operator must look, or why it is not applied yet or never will be.
    why = models.CharField(max_length=WHY_MAX_LENGTH, blank=True)
    tries = models.PositiveIntegerField(default=0)
    # When it is claimed next; while it is claimed, when the lease expires.
    due_at = models.DateTimeField(null=True, blank=True, default=clock.now)
    # The operator's note, who closed it, and when.
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
            *checks(
                provider_event_waiting_has_due_at=Q(state="waiting", due_at__isnull=False)
                | ~Q(state="waiting") & Q(due_at__isnull=True),
                provider_event_attention_has_reason=~Q(state="needs_attention") | ~Q(why=""),
                provider_event_closed_by_operator=~Q(state="closed")
                & Q(note="", closed_by__isnull=True, closed_at__isnull=True)
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
