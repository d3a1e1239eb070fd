from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.models.merchants.merchant import Merchant
from payments.models.operators.correction import DECIDED, NOTE_MAX_LENGTH, SOMETHING_WRITTEN, UNDECIDED, free_of_secrets


class ApprovalRequestQuerySet(models.QuerySet["ApprovalRequest"]):
    def proposed(self) -> "ApprovalRequestQuerySet":
        """Return the requests that wait for a decision."""
        return self.filter(state=ApprovalRequest.State.PROPOSED)

    def open(self) -> "ApprovalRequestQuerySet":
        """Return the requests that wait for a decision, or whose key its requester has not collected."""
        return self.filter(state__in=[ApprovalRequest.State.PROPOSED, ApprovalRequest.State.APPROVED])


class ApprovalRequest(models.Model):
    """A change to who may move live money, and where to: requested by one operator, decided by another."""

    class Kind(models.TextChoices):
        ISSUE_KEY = "issue_key", "Issue a key"
        ROLL_KEY = "roll_key", "Roll a key"
        ADD_ACCOUNT = "add_account", "Connect a provider account"
        CHANGE_ACCOUNT = "change_account", "Change a provider account"
        ADD_ROUTE = "add_route", "Add a route"
        CHANGE_ROUTE = "change_route", "Change a route"
        ADD_PAYOUT_ACCOUNT = "add_payout_account", "Set the bank account"
        SET_PAYOUT_SCHEDULE = "set_payout_schedule", "Set the payout schedule"
        RECORD_PAYOUT = "record_payout", "Record a payout"

    class State(models.TextChoices):
        PROPOSED = "proposed"  # waits for another operator's decision
        APPROVED = "approved"  # the requester has not collected the new key yet
        DONE = "done"
        DECLINED = "declined"  # by another operator
        WITHDRAWN = "withdrawn"  # by the requester
        EXPIRED = "expired"

    # Kinds that are done when the requester collects the key, not by the approval.
    KEYS = (Kind.ISSUE_KEY, Kind.ROLL_KEY)

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=19, choices=Kind.choices)
    # The ID of the row to change, or the request's own ID, which the new row gets.
    subject_id = models.UUIDField()
    # The requested values, and for a change the values at the time of the request. Neither holds a secret.
    parameters = models.JSONField()
    before = models.JSONField(default=dict, blank=True)
    # The credentials of an account, or the number of a bank account, until the request is decided or ends.
    sealed_credentials = models.BinaryField(null=True, blank=True)
    reason = models.CharField(max_length=NOTE_MAX_LENGTH, validators=[free_of_secrets])
    state = models.CharField(max_length=9, choices=State.choices, default=State.PROPOSED)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=NOTE_MAX_LENGTH, blank=True, default="", validators=[free_of_secrets])
    # When an undecided request expires, or an approved key that was not collected.
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = ApprovalRequestQuerySet.as_manager()

    class Meta:
        verbose_name = "request for approval"
        verbose_name_plural = "requests for approval"
        default_permissions = ("view",)
        permissions = [("decide_approvalrequest", "Can approve and decline requests of others")]
        constraints = [
            models.CheckConstraint(
                name="approval_request_kind_is_known",
                condition=Q(
                    kind__in=[
                        "issue_key",
                        "roll_key",
                        "add_account",
                        "change_account",
                        "add_route",
                        "change_route",
                        "add_payout_account",
                        "set_payout_schedule",
                        "record_payout",
                    ]
                ),
            ),
            models.CheckConstraint(name="approval_request_has_reason", condition=Q(reason__regex=SOMETHING_WRITTEN)),
            models.CheckConstraint(
                name="approval_request_decided_by_another",
                condition=Q(decided_by__isnull=True) | ~Q(decided_by=F("proposed_by")),
            ),
            models.CheckConstraint(
                name="approval_request_decided_whole",
                condition=Q(state__in=["approved", "done", "declined"]) & DECIDED
                | Q(state="proposed") & UNDECIDED
                | Q(state__in=["withdrawn", "expired"]) & (DECIDED | UNDECIDED),
            ),
            models.CheckConstraint(
                name="approval_request_waits_only_for_a_key",
                condition=~Q(state="approved") | Q(kind__in=["issue_key", "roll_key"]),
            ),
            models.CheckConstraint(
                name="approval_request_keeps_no_credentials",
                condition=Q(sealed_credentials__isnull=True)
                | Q(state="proposed", kind__in=["add_account", "change_account", "add_payout_account"]),
            ),
            models.UniqueConstraint(
                F("subject_id"),
                name="one_open_approval_request_per_subject",
                condition=Q(state__in=["proposed", "approved"]),
            ),
        ]
        indexes = [
            models.Index(
                F("expires_at"), name="approval_request_open", condition=Q(state__in=["proposed", "approved"])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.merchant.title}"
