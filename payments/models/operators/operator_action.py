from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.fields import OwnForeignKey, OwnOneToOneField
from payments.models.charging.attempt import Attempt
from payments.models.charging.charge import AMOUNT_MAX, Charge
from payments.models.merchants.merchant import Merchant
from payments.models.operators.correction import DECIDED, NOTE_MAX_LENGTH, SOMETHING_WRITTEN, UNDECIDED, free_of_secrets


class OperatorActionQuerySet(models.QuerySet["OperatorAction"]):
    def proposed(self) -> "OperatorActionQuerySet":
        """Return the actions that wait for another operator's decision."""
        return self.filter(state=OperatorAction.State.PROPOSED)

    def approved(self) -> "OperatorActionQuerySet":
        """Return the actions that are to be executed or are being executed."""
        return self.filter(state=OperatorAction.State.APPROVED)


class OperatorAction(models.Model):
    """An operator's action on a charge: executed at once, or requested for another operator to decide."""

    class Kind(models.TextChoices):
        CAPTURE = "capture"
        VOID = "void"  # of a captured charge
        REFUND = "refund"
        RELEASE = "release"  # of a hold
        EXTEND = "extend"

    class State(models.TextChoices):
        PROPOSED = "proposed"  # waits for another operator's decision
        APPROVED = "approved"  # to be executed, after an approval or without the need for one
        DONE = "done"  # executed by the same code as the API's operation
        REFUSED = "refused"  # not executed: the charge did not allow it, or the provider did not
        DECLINED = "declined"  # by another operator
        WITHDRAWN = "withdrawn"  # by its requester
        EXPIRED = "expired"

    # Kinds that give money back, which need an approval above the operator's limit.
    OUTWARD = (Kind.VOID, Kind.REFUND)

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The charge's.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    charge = OwnForeignKey(Charge, models.PROTECT, related_name="operator_actions")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    # The amount to capture or give back; for a whole charge, the amount at the time of the request.
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=NOTE_MAX_LENGTH, validators=[free_of_secrets])
    state = models.CharField(max_length=9, choices=State.choices, default=State.PROPOSED)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # The requester's approval limit at that time; empty if there was none for the currency.
    limit = models.BigIntegerField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=NOTE_MAX_LENGTH, blank=True, default="", validators=[free_of_secrets])
    # Shared by actions that were requested together.
    batch = models.UUIDField(null=True, blank=True)
    # When an undecided request expires.
    expires_at = models.DateTimeField()
    attempt = OwnOneToOneField(Attempt, models.PROTECT, null=True, blank=True, related_name="operator_action")
    # Why it was refused: a code of the API's errors.
    code = models.CharField(max_length=40, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = OperatorActionQuerySet.as_manager()

    class Meta:
        verbose_name = "operator action"
        verbose_name_plural = "operator actions"
        default_permissions = ("view",)
        permissions = [
            ("capture_charge", "Can capture held charges"),
            ("void_charge", "Can void captured charges"),
            ("refund_charge", "Can refund charges"),
            ("release_charge", "Can release holds"),
            ("extend_charge", "Can extend holds"),
            ("decide_operatoraction", "Can approve and decline actions of others"),
        ]
        constraints = [
            models.CheckConstraint(
                name="operator_action_has_amount", condition=Q(amount__gte=1, amount__lte=AMOUNT_MAX)
            ),
            models.CheckConstraint(
                name="operator_action_kind_is_known",
                condition=Q(kind__in=["capture", "void", "refund", "release", "extend"]),
            ),
            models.CheckConstraint(name="operator_action_has_reason", condition=Q(reason__regex=SOMETHING_WRITTEN)),
            models.CheckConstraint(
                name="operator_action_decided_by_another",
                condition=Q(decided_by__isnull=True) | ~Q(decided_by=F("proposed_by")),
            ),
            models.CheckConstraint(
                name="operator_action_decided_whole",
                condition=Q(state="declined") & DECIDED
                | Q(state__in=["approved", "done", "refused"]) & (DECIDED | UNDECIDED)
                | Q(state__in=["proposed", "withdrawn", "expired"]) & UNDECIDED,
            ),
            models.CheckConstraint(
                name="operator_action_above_the_limit_by_two",
                condition=Q(state__in=["proposed", "declined", "withdrawn", "expired"])
                | ~Q(kind__in=["void", "refund"])
                | Q(decided_by__isnull=False)
                | Q(limit__isnull=False, amount__lte=F("limit")),
            ),
            models.CheckConstraint(
                name="operator_action_ends_with_attempt_or_code",
                condition=Q(state="done", attempt__isnull=False, code="")
                | Q(state="refused") & ~Q(code="")
                | Q(state__in=["proposed", "approved", "declined", "withdrawn", "expired"], attempt=None, code=""),
            ),
        ]
        indexes = [
            models.Index(F("expires_at"), name="operator_action_open", condition=Q(state__in=["proposed", "approved"])),
            models.Index(F("batch"), name="operator_action_of_batch", condition=Q(batch__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.charge_id.hex}"

    @property
    def idempotency_key(self) -> str:
        """The idempotency key of its execution."""
        return f"act-{self.id.hex}"


class ApprovalLimit(models.Model):
    """The amount up to which a role gives money back without approval, in one currency; without one, none."""

    role = models.ForeignKey("auth.Group", models.CASCADE, related_name="approval_limits", db_index=False)
    currency = models.CharField(max_length=3)
    amount = models.BigIntegerField()

    class Meta:
        verbose_name = "approval limit"
        verbose_name_plural = "approval limits"
        # No deletion, because a migration restores a missing default: set the amount to zero instead.
        default_permissions = ("view", "add", "change")
        constraints = [
            models.UniqueConstraint(F("role"), F("currency"), name="one_approval_limit_per_role_and_currency"),
            models.CheckConstraint(name="approval_limit_in_bounds", condition=Q(amount__gte=0, amount__lte=AMOUNT_MAX)),
        ]

    def __str__(self) -> str:
        return f"{self.role}, {self.currency}"
