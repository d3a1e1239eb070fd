from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.new_rows import Row
from payments.models.charge import Charge, Refund
from payments.models.idempotency import IdempotencyRecord
from payments.models.merchant import ApiKey

# How often the provider is asked again, later, about an attempt of which it knew nothing when that was given up.
SECOND_LOOKS = 3


class Attempt(Row):
    """One operation asked of a provider, written down before it is asked.

    Its ID, in hex, is the reference under which the provider knows the operation, so that a process that dies
    between the question and the record leaves something to look up.
    """

    class Kind(models.TextChoices):
        AUTHORIZE = "authorize"
        CAPTURE = "capture"
        VOID = "void"
        REFUND = "refund"
        EXTEND = "extend"  # a hold, by some days
        REVERSE = "reverse"  # money that came after the charge had failed goes back

    class State(models.TextChoices):
        OPEN = "open"  # being asked, or the asking process died
        UNKNOWN = "unknown"  # asked, and no answer: only a lookup may settle it
        WAITING = "waiting"  # the provider answered that the outcome comes later
        DONE = "done"

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    charge = models.ForeignKey(Charge, models.PROTECT, related_name="attempts")
    # Few have one, or keep it: both keys are served by indexes without the others.
    refund = models.ForeignKey(Refund, models.PROTECT, null=True, blank=True, related_name="attempts", db_index=False)
    idempotency = models.ForeignKey(
        IdempotencyRecord, models.SET_NULL, null=True, blank=True, related_name="attempts", db_index=False
    )
    # By which this payment was declined, without the provider being asked.
    block = models.ForeignKey(
        "payments.Block", models.PROTECT, null=True, blank=True, related_name="declined", db_index=False
    )
    kind = models.CharField(max_length=9, choices=Kind.choices)
    provider = models.CharField(max_length=40)
    # Whose provider it is and by which route it was asked; none for the simulator. `chosen` says why this one.
    account = models.ForeignKey(
        "payments.ProviderAccount", models.PROTECT, null=True, blank=True, related_name="attempts", db_index=False
    )
    route = models.ForeignKey(
        "payments.Route", models.PROTECT, null=True, blank=True, related_name="attempts", db_index=False
    )
    chosen = models.CharField(max_length=100, blank=True, default="")
    # When the provider could not be reached by its route or did not answer, which the route's health is read from.
    outage_at = models.DateTimeField(null=True, blank=True)
    # The money was not moved, and the charge went on to the next route.
    passed_on = models.BooleanField(default=False)
    amount = models.BigIntegerField()
    # By how many days a hold is to be extended.
    hold_days = models.PositiveSmallIntegerField(null=True, blank=True)
    state = models.CharField(max_length=7, choices=State.choices, default=State.OPEN)
    outcome = models.CharField(max_length=20, blank=True, default="")
    provider_ref = models.CharField(max_length=255, blank=True, default="")
    # The text of a code that the payer scans on a page of ours.
    qr = models.TextField(blank=True, default="")
    # What the provider said, redacted by its connector.
    response = models.JSONField(null=True, blank=True)
    # The request that asked last, how it was signed and sent, and the HTTP status that it was answered with.
    request_id = models.CharField(max_length=40, blank=True, default="")
    api_key = models.ForeignKey(
        ApiKey, models.PROTECT, null=True, blank=True, related_name="+", db_constraint=False, db_index=False
    )
    idempotency_key = models.CharField(max_length=255, blank=True, default="")
    answer_status = models.PositiveSmallIntegerField(null=True, blank=True)
    # Lookups of the present question; of one that was given up, those since then.
    tries = models.PositiveIntegerField(default=0)
    # When recovery looks at it next, also at one that was given up; empty when there is nothing to look for.
    due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="attempt_done_has_outcome",
                condition=Q(state="done") & ~Q(outcome="")
                | Q(state__in=["open", "unknown", "waiting"], due_at__isnull=False),
            ),
            # It may arrive after all, from a process that stalled before it asked and then had no answer or died.
            models.CheckConstraint(
                name="attempt_given_up_is_looked_up_again",
                condition=~Q(state="done")
                | ~Q(outcome="NotFound") & Q(due_at__isnull=True)
                | Q(outcome="NotFound") & (Q(due_at__isnull=False) | Q(tries__gte=SECOND_LOOKS)),
            ),
            models.CheckConstraint(
                name="attempt_extends_by_days",
                condition=Q(kind="extend", hold_days__gte=1) | ~Q(kind="extend") & Q(hold_days__isnull=True),
            ),
            models.CheckConstraint(
                name="attempt_blocked_is_never_approved",
                condition=Q(block__isnull=True)
                | Q(kind="authorize", provider_ref="") & ~Q(outcome__in=["Approved", "LateApproved"]),
            ),
            models.CheckConstraint(
                name="attempt_by_a_route_is_of_an_account",
                condition=Q(route__isnull=True) | Q(account__isnull=False),
            ),
            models.CheckConstraint(
                name="attempt_passed_on_moved_no_money",
                condition=Q(passed_on=False)
                | Q(kind="authorize", state="done", route__isnull=False)
                & Q(outcome__in=["NotSent", "Declined", "LateApproved"]),
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
                # Late money of a payment that the charge had gone on from goes back beside what is done to the charge.
                condition=Q(state__in=["open", "unknown"]) & ~Q(kind="reverse"),
            ),
        ]
        indexes = [
            models.Index(F("due_at"), name="attempt_due", condition=Q(due_at__isnull=False)),
            models.Index(F("refund"), name="attempt_of_refund", condition=Q(refund__isnull=False)),
            models.Index(F("idempotency"), name="attempt_to_answer", condition=Q(idempotency__isnull=False)),
            models.Index(F("provider_ref"), name="attempt_provider_ref", condition=~Q(provider_ref="")),
            models.Index(F("route"), F("id"), name="attempt_of_route", condition=Q(route__isnull=False)),
            models.Index(F("block"), F("id"), name="attempt_blocked", condition=Q(block__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id.hex}"

    @property
    def is_unresolved(self) -> bool:
        """Whether nobody knows what became of it, as `UNRESOLVED` asks of rows."""
        is_unanswered = self.state == self.State.WAITING and (self.response or {}).get("outcome") == "Unknown"
        return is_unanswered or self.state in (self.State.OPEN, self.State.UNKNOWN)

    @property
    def reference(self) -> str:
        """The name of this operation at the provider."""
        return self.id.hex


# What waits goes on waiting where a question about it has no answer.
UNANSWERED = Q(state=Attempt.State.WAITING, response__outcome="Unknown")
UNRESOLVED = Q(state__in=[Attempt.State.OPEN, Attempt.State.UNKNOWN]) | UNANSWERED
