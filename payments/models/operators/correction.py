from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q, QuerySet

from payments import clock, ids
from payments.db.fields import OwnForeignKey
from payments.models.charging.attempt import UNANSWERED, Attempt
from payments.models.merchants.merchant import Merchant
from payments.sensitive_data.card_numbers import holds_card_number
from payments.sensitive_data.redaction import without_words

EVIDENCE_MAX_LENGTH = 2000
NOTE_MAX_LENGTH = 500
SOMETHING_WRITTEN = r"\S"
# What a row that one operator requests holds before and after another one's decision.
UNDECIDED = Q(decided_by__isnull=True, decided_at__isnull=True, note="")
DECIDED = Q(decided_by__isnull=False, decided_at__isnull=False, note__regex=SOMETHING_WRITTEN)


def free_of_secrets(text: str) -> None:
    """Raise ValidationError if `text` contains a card number, a CVC or a key."""
    if holds_card_number(text) or without_words(text) != text:
        message = (
            "This looks like it holds a card number, a CVC or a key. Take it out; a card's last 4 digits may stay."
        )
        raise ValidationError(message, "secret")


class UnknownOutcomes(models.Manager["UnknownOutcome"]):
    """Attempts whose outcome is unknown, without those whose first call is still under way."""

    def get_queryset(self) -> "QuerySet[UnknownOutcome]":
        # A running call never postpones `due_at`; recovery does, at each lookup of an open attempt.
        left_behind = Q(due_at__lte=clock.now()) | Q(tries__gt=0) | Q(kind=Attempt.Kind.REVERSE)
        unresolved = Q(state=Attempt.State.UNKNOWN) | UNANSWERED | Q(state=Attempt.State.OPEN) & left_behind
        # Every unresolved attempt has `due_at`, which has an index.
        return super().get_queryset().filter(unresolved, due_at__isnull=False)


class UnknownOutcome(Attempt):
    """An attempt with an unknown outcome, for the operators' list of them."""

    objects: ClassVar[UnknownOutcomes] = UnknownOutcomes()

    class Meta:
        proxy = True
        default_permissions = ("view",)
        permissions = [("look_up_unknownoutcome", "Can look up unknown outcome now")]


class CorrectionQuerySet(models.QuerySet["Correction"]):
    def proposed(self) -> "CorrectionQuerySet":
        """Return the corrections that wait for a decision."""
        return self.filter(state=Correction.State.PROPOSED)


class Correction(models.Model):
    """The outcome of an attempt by the provider's own records: proposed by one operator, decided by another."""

    class Outcome(models.TextChoices):
        APPROVED = "approved", "Approved: the provider did it"
        DECLINED = "declined", "Declined: the provider refused it"
        NEVER_ARRIVED = "never_arrived", "Never arrived: the provider knows nothing of it"

    class State(models.TextChoices):
        PROPOSED = "proposed"
        APPROVED = "approved"  # recorded in the transaction of the approval
        REJECTED = "rejected"
        WITHDRAWN = "withdrawn"  # by its proposer
        OVERTAKEN = "overtaken"  # the provider's own answer came first

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The attempt's.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    attempt = OwnForeignKey(Attempt, models.PROTECT, related_name="corrections")
    outcome = models.CharField(max_length=13, choices=Outcome.choices)
    # For a decline: one of the codes of `failure_data`.
    decline_code = models.CharField(max_length=30, blank=True, default="")
    # For an approval: the provider's own reference.
    provider_ref = models.CharField("provider's reference", max_length=255, blank=True, default="")
    evidence = models.CharField(max_length=EVIDENCE_MAX_LENGTH, validators=[free_of_secrets])
    state = models.CharField(max_length=9, choices=State.choices, default=State.PROPOSED)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=NOTE_MAX_LENGTH, blank=True, default="", validators=[free_of_secrets])
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = CorrectionQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        permissions = [
            ("propose_correction", "Can propose correction"),
            ("approve_correction", "Can approve and reject corrections of others"),
        ]
        constraints = [
            models.CheckConstraint(
                name="correction_outcome_has_its_proof",
                condition=Q(outcome="approved", decline_code="") & ~Q(provider_ref="")
                | Q(outcome="declined", provider_ref="") & ~Q(decline_code="")
                | Q(outcome="never_arrived", decline_code="", provider_ref=""),
                violation_error_message="An approval needs the provider's reference, a decline its code, and no other.",
            ),
            models.CheckConstraint(name="correction_has_evidence", condition=Q(evidence__regex=SOMETHING_WRITTEN)),
            models.CheckConstraint(
                name="correction_decided_by_another",
                condition=Q(decided_by__isnull=True) | ~Q(decided_by=F("proposed_by")),
            ),
            models.CheckConstraint(
                name="correction_decided_whole",
                condition=Q(state__in=["approved", "rejected"]) & DECIDED
                | Q(state__in=["proposed", "withdrawn", "overtaken"]) & UNDECIDED,
            ),
            models.UniqueConstraint(
                F("attempt"),
                name="one_open_correction_per_attempt",
                condition=Q(state="proposed"),
                violation_error_message="There is an open proposal for this attempt already.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} {self.attempt_id.hex}"
