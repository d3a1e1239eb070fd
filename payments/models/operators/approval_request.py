"""What one operator requests and another decides: in one table, shown on the page of each kind."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.fields import OwnForeignKey
from payments.models.charging.attempt import Attempt
from payments.models.charging.charge import Charge
from payments.models.merchants.merchant import Merchant
from payments.models.operators.approval_rules import (
    ACTIONS,
    ASSISTANT_CALL,
    CONSTRAINTS,
    CORRECTION,
    EXECUTED,
    KEYS,
    OPEN,
    Kind,
)
from payments.models.operators.reasons import NOTE_MAX_LENGTH, free_of_secrets

EVIDENCE_MAX_LENGTH = 2000


class ApprovalRequestQuerySet(QuerySet["ApprovalRequest"]):
    def proposed(self) -> Self:
        """Return the requests that wait for a decision."""
        return self.filter(state=ApprovalRequest.State.PROPOSED)

    def approved(self) -> Self:
        """Return those that are approved and not done: actions to execute, and keys that were not taken."""
        return self.filter(state=ApprovalRequest.State.APPROVED)

    def open(self) -> Self:
        """Return those that wait for a decision, or that are approved and not done."""
        return self.filter(state__in=OPEN)

    def undecided(self) -> Self:
        """Return those that may still be decided."""
        return self.proposed().filter(expires_at__gt=clock.now())

    def to_take(self) -> Self:
        """Return those whose key their requester may still take."""
        return self.approved().filter(kind__in=KEYS, expires_at__gt=clock.now())

    def overdue(self) -> Self:
        """Return those whose time is over: undecided ones, and approved keys that were not taken."""
        may_expire = Q(state=ApprovalRequest.State.PROPOSED) | Q(state=ApprovalRequest.State.APPROVED, kind__in=KEYS)
        return self.filter(may_expire, expires_at__lte=clock.now())


Requests = models.Manager.from_queryset(ApprovalRequestQuerySet)


class ApprovalRequest(models.Model):
    """Something about money, or about who may move it: requested by one operator, decided by another."""

    class State(models.TextChoices):
        PROPOSED = "proposed", _("Proposed")  # waits for another operator's decision
        # To be executed, after an approval or without the need for one; or the requester has not taken the key yet.
        APPROVED = "approved", _("Approved")
        DONE = "done", _("Done")
        REFUSED = "refused", _("Refused")  # not executed: the charge did not allow it, or the provider did not
        REJECTED = "rejected", _("Rejected")  # by another operator
        WITHDRAWN = "withdrawn", _("Withdrawn")  # by the requester
        EXPIRED = "expired", _("Expired")
        OVERTAKEN = "overtaken", _("Overtaken")  # the provider's own answer came first, or the payout was cancelled

    Kind = Kind
    # Kinds that are done when the requester takes the key, not by the approval, and the permission to ask for one.
    KEYS: ClassVar = {Kind.ISSUE_KEY: "payments.add_apikey", Kind.ROLL_KEY: "payments.change_apikey"}
    # Kinds with this model's page and permissions; the others have those of the models below.
    KINDS: ClassVar[Sequence[str]] = [kind for kind in Kind if kind not in [*EXECUTED, CORRECTION]]
    MAY_DECIDE = "payments.decide_approvalrequest"

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # Of a bank file and of a layout of files none: nobody who works for some merchants sees it.
    merchant: Any = models.ForeignKey(Merchant, models.PROTECT, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=19, choices=Kind.choices)
    # The ID of the row to change or to correct, or the request's own ID, which what it makes gets.
    subject_id = models.UUIDField()
    # Of an action, its charge and then its attempt; of a correction, those with the unknown outcome.
    charge: Any = OwnForeignKey(Charge, models.PROTECT, null=True, blank=True, related_name="approval_requests")
    attempt: Any = OwnForeignKey(Attempt, models.PROTECT, null=True, blank=True, related_name="approval_requests")
    # Of an action, what to capture or give back; for a whole charge, the amount at the time of the request.
    amount: Any = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True, default="")
    # The requester's approval limit at that time; empty if there was none for the currency.
    limit = models.BigIntegerField(null=True, blank=True)
    # The requested values, and for a change the values at the time of the request. Neither holds a secret.
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)
    # The credentials of an account, or the number of a bank account, until the request is decided or ends.
    sealed_credentials = models.BinaryField(null=True, blank=True)
    # Of a correction, the evidence.
    reason = models.CharField(max_length=EVIDENCE_MAX_LENGTH, validators=[free_of_secrets])
    state = models.CharField(max_length=9, choices=State.choices, default=State.PROPOSED)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=NOTE_MAX_LENGTH, blank=True, default="", validators=[free_of_secrets])
    # Shared by actions that were requested together.
    batch = models.UUIDField(null=True, blank=True)
    # Why an action was refused: a code of the API's errors.
    code = models.CharField(max_length=40, blank=True, default="")
    # When an undecided request expires, or an approved key that was not taken.
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects: ClassVar[Requests] = Requests()

    class Meta:
        verbose_name = _("request for approval")
        verbose_name_plural = _("requests for approval")
        default_permissions = ("view",)
        permissions = [("decide_approvalrequest", "Can approve and reject requests of others")]
        constraints = CONSTRAINTS
        indexes = [
            models.Index(F("expires_at"), name="approval_request_open", condition=Q(state__in=OPEN)),
            models.Index(F("batch"), name="operator_action_of_batch", condition=Q(batch__isnull=False)),
            models.Index(
                F("proposed_by"), F("created_at"), name="assistant_call_of_day", condition=Q(kind=ASSISTANT_CALL)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.whose}"

    @property
    def whose(self) -> str:
        """Return whose money or terms it is about."""
        return self.merchant.title if self.merchant else "all merchants"

    @property
    def livemode(self) -> bool:
        """Whether it is about real money, as everything is that is neither of a charge nor of an assistant."""
        is_live: bool = self.charge.livemode if self.charge else self.after.get("livemode", True)
        return is_live

    @property
    def verb(self) -> str:
        """What it does to money: the tool of an assistant's call, the kind of anything else."""
        return str(self.after["tool"] if self.kind == ASSISTANT_CALL else self.kind)

    @property
    def body(self) -> dict[str, Any]:
        """The input of what it does to money."""
        body: dict[str, Any] = self.after["body"] if self.kind == ASSISTANT_CALL else self.after
        return body

    @property
    def idempotency_key(self) -> str:
        """The idempotency key of the execution."""
        return f"act-{self.id.hex}"

    @property
    def shown_as(self) -> type["ApprovalRequest"]:
        """The model whose page and permissions it has, and as which the audit log names it."""
        return next((model for model in SHOWN_AS if self.kind in model.KINDS), ApprovalRequest)


class OfKinds(Requests):
    """The requests that a model shows."""

    def get_queryset(self) -> Any:
        model: Any = self.model
        return super().get_queryset().filter(kind__in=model.KINDS)


class OperatorAction(ApprovalRequest):
    """An operator's action on a charge: executed at once, or requested for another operator to decide."""

    KINDS = ACTIONS
    MAY_DECIDE = "payments.decide_operatoraction"

    objects: ClassVar[OfKinds] = OfKinds()

    class Meta:
        proxy = True
        verbose_name = _("action on a charge")
        verbose_name_plural = _("actions on charges")
        default_permissions = ("view",)
        permissions = [
            ("capture_charge", "Can capture held charges"),
            ("void_charge", "Can void captured charges"),
            ("refund_charge", "Can refund charges"),
            ("release_charge", "Can release holds"),
            ("extend_charge", "Can extend holds"),
            ("decide_operatoraction", "Can approve and reject actions of others"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.charge_id.hex if self.charge_id else ''}"


class Correction(ApprovalRequest):
    """The outcome of an attempt by the provider's own records; `after` has it with its proof."""

    class Outcome(models.TextChoices):
        APPROVED = "approved", "Approved: the provider did it"
        DECLINED = "declined", "Declined: the provider refused it"
        NEVER_ARRIVED = "never_arrived", "Never arrived: the provider knows nothing of it"

    KINDS = (CORRECTION,)
    MAY_PROPOSE, MAY_DECIDE = "payments.propose_correction", "payments.approve_correction"

    objects: ClassVar[OfKinds] = OfKinds()

    class Meta:
        proxy = True
        default_permissions = ("view",)
        permissions = [
            ("propose_correction", "Can propose correction"),
            ("approve_correction", "Can approve and reject corrections of others"),
        ]

    def __str__(self) -> str:
        return f"{self.after['outcome']} {self.attempt_id.hex if self.attempt_id else ''}"


class AssistantCall(ApprovalRequest):
    """A tool that moves money, called by an assistant: `after` has the tool, its arguments and the key."""

    KINDS = (ASSISTANT_CALL,)
    MAY_DECIDE = OperatorAction.MAY_DECIDE

    objects: ClassVar[OfKinds] = OfKinds()

    class Meta:
        proxy = True
        verbose_name = _("call of an assistant")
        verbose_name_plural = _("calls of assistants")
        default_permissions = ("view",)


SHOWN_AS = (OperatorAction, Correction, AssistantCall, ApprovalRequest)
