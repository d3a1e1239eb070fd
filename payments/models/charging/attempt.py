from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Least
from django.db.models.lookups import Exact, GreaterThanOrEqual, IsNull

from payments import clock, ids
from payments.db.checks import RowRules, one_of
from payments.db.fast_model import FastModel
from payments.db.fields import OwnForeignKey
from payments.models.charging.charge import Charge, Refund
from payments.models.charging.idempotency import IdempotencyRecord
from payments.models.merchants.merchant import ApiKey, Merchant

# How often a provider is asked again about an attempt that was given up because it did not know it.
SECOND_LOOKS = 3


class Attempt(FastModel):
    """One operation at a provider, recorded before the provider is called.

    Its ID in hex is the provider's reference for the operation, so that after a crash between the call and the record
    it can be looked up.
    """

    class Kind(models.TextChoices):
        AUTHORIZE = "authorize", "authorization"
        CAPTURE = "capture", "capture"
        VOID = "void", "void"
        REFUND = "refund", "refund"
        EXTEND = "extend", "extension of the hold"  # a hold, by some days
        REVERSE = "reverse", "reversal of a late payment"  # gives back money that arrived after the charge had failed

    class State(models.TextChoices):
        OPEN = "open"  # the call is under way, or its process died
        UNKNOWN = "unknown"  # the call had no answer: only a lookup finds the outcome
        WAITING = "waiting"  # the provider will report the outcome later
        DONE = "done"

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The charge's: its own foreign key proves that there is such a merchant.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    charge = OwnForeignKey(Charge, models.PROTECT, related_name="attempts")
    # No index: nothing looks for a refund's attempts, and refunds stay.
    refund = OwnForeignKey(Refund, models.PROTECT, null=True, blank=True, related_name="attempts", db_index=False)
    # Mostly NULL, so it has a partial index below.
    idempotency = OwnForeignKey(
        IdempotencyRecord, models.SET_NULL, null=True, blank=True, related_name="attempts", db_index=False
    )
    # The block that declined this payment without a call of the provider.
    block = models.ForeignKey(
        "payments.Block", models.PROTECT, null=True, blank=True, related_name="declined", db_index=False
    )
    kind = models.CharField(max_length=9, choices=Kind.choices)
    provider = models.CharField(max_length=40)
    # The provider account and the route; none for the simulator. `chosen` says why this route.
    account = models.ForeignKey(
        "payments.ProviderAccount", models.PROTECT, null=True, blank=True, related_name="attempts", db_index=False
    )
    route = models.ForeignKey(
        "payments.Route", models.PROTECT, null=True, blank=True, related_name="attempts", db_index=False
    )
    chosen = models.CharField(max_length=100, blank=True, default="")
    # When the provider was unreachable or did not answer by this route; the circuit breaker reads it.
    outage_at = models.DateTimeField(null=True, blank=True)
    # No money was moved, and the charge was tried by the next route.
    passed_on = models.BooleanField(default=False)
    amount = models.BigIntegerField()
    # The days by which to extend a hold.
    hold_days = models.SmallIntegerField(null=True, blank=True)
    state = models.CharField(max_length=7, choices=State.choices, default=State.OPEN)
    outcome = models.CharField(max_length=20, blank=True, default="")
    provider_ref = models.CharField(max_length=255, blank=True, default="")
    # The content of a QR code that the payer scans on one of our pages.
    qr = models.TextField(blank=True, default="")
    # The provider's response, redacted by its connector.
    response = models.JSONField(null=True, blank=True)
    # The last request for this attempt: its ID, API key, idempotency key and HTTP status.
    request_id = models.CharField(max_length=40, blank=True, default="")
    api_key = models.ForeignKey(
        ApiKey, models.PROTECT, null=True, blank=True, related_name="+", db_constraint=False, db_index=False
    )
    idempotency_key = models.CharField(max_length=255, blank=True, default="")
    answer_status = models.SmallIntegerField(null=True, blank=True)
    # Lookups so far; for an attempt that was given up, those since then.
    tries = models.IntegerField(default=0)
    # When recovery looks it up next, also after it was given up; empty if there is nothing to look up.
    due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        constraints = [
            RowRules(
                name="attempt_follows_rules",
                rules={
                    # A process that stalled before the call may still send it, so what was given up is looked up again.
                    "attempt_is_due_or_done": Q(state__regex=one_of("open", "unknown", "waiting"), due_at__isnull=False)
                    | Q(state="done")
                    & ~Q(outcome="")
                    & (
                        Q(Exact(Exact(F("outcome"), "NotFound"), IsNull(F("due_at"), False)))
                        | Q(outcome="NotFound", tries__gte=SECOND_LOOKS)
                    ),
                    "attempt_extends_by_days": Q(
                        Exact(Exact(F("kind"), "extend"), IsNull(F("hold_days"), False)), hold_days__gte=1
                    ),
                    "attempt_has_nothing_negative": GreaterThanOrEqual(
                        Least("tries", "answer_status", output_field=models.IntegerField()), 0
                    ),
                    "attempt_blocked_is_never_approved": Q(block__isnull=True)
                    | Q(kind="authorize", provider_ref="") & ~Q(outcome__endswith="Approved"),
                    "attempt_by_a_route_is_of_an_account": Q(route__isnull=True) | Q(account__isnull=False),
                    "attempt_passed_on_moved_no_money": Q(passed_on=False)
                    | Q(kind="authorize", state="done", route__isnull=False)
                    & Q(outcome__regex=one_of("NotSent", "Declined", "LateApproved")),
                },
            ),
            models.UniqueConstraint(
                F("charge"), name="one_authorization_per_charge", condition=Q(kind="authorize", passed_on=False)
            ),
            models.UniqueConstraint(
                F("charge"),
                F("route"),
                name="one_authorization_per_route",
                condition=Q(kind="authorize", route__isnull=False),
            ),
            models.UniqueConstraint(
                F("charge"),
                name="one_unresolved_operation_per_charge",
                # Late money of a declined route is reversed while other operations on the charge go ahead.
                condition=Q(state__in=["open", "unknown"]) & ~Q(kind="reverse"),
            ),
        ]
        indexes = [
            models.Index(F("due_at"), name="attempt_due", condition=Q(due_at__isnull=False)),
            models.Index(F("idempotency"), name="attempt_to_answer", condition=Q(idempotency__isnull=False)),
            models.Index(F("provider_ref"), name="attempt_provider_ref", condition=~Q(provider_ref="")),
            models.Index(F("route"), F("id"), name="attempt_of_route", condition=Q(route__isnull=False)),
            models.Index(F("block"), F("id"), name="attempt_blocked", condition=Q(block__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id.hex}"

    @property
    def is_unresolved(self) -> bool:
        """Whether the outcome is unknown: the same condition as `UNRESOLVED`."""
        is_unanswered = self.state == self.State.WAITING and (self.response or {}).get("outcome") == "Unknown"
        return is_unanswered or self.state in (self.State.OPEN, self.State.UNKNOWN)

    @property
    def reference(self) -> str:
        """The provider's reference for this operation."""
        return self.id.hex


# A waiting attempt stays waiting after a lookup without an answer.
UNANSWERED = Q(state=Attempt.State.WAITING, response__outcome="Unknown")
UNRESOLVED = Q(state__in=[Attempt.State.OPEN, Attempt.State.UNKNOWN]) | UNANSWERED


class UnknownOutcomes(models.Manager["UnknownOutcome"]):
    """Attempts whose outcome is unknown, without those whose first call is still under way."""

    def get_queryset(self) -> "models.QuerySet[UnknownOutcome]":
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
