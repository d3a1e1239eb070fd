from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.models.attempt import Attempt
from payments.models.charge import AMOUNT_MAX, Charge
from payments.models.correction import NOTE_MAX_LENGTH, SOMETHING_WRITTEN, free_of_secrets

_UNDECIDED = Q(decided_by__isnull=True, decided_at__isnull=True, note="")
_DECIDED = Q(decided_by__isnull=False, decided_at__isnull=False, note__regex=SOMETHING_WRITTEN)


class StaffActQuerySet(models.QuerySet["StaffAct"]):
    def proposed(self) -> "StaffActQuerySet":
        """Those that wait for a second person."""
        return self.filter(state=StaffAct.State.PROPOSED)

    def approved(self) -> "StaffActQuerySet":
        """Those that are to be done, or are being done."""
        return self.filter(state=StaffAct.State.APPROVED)


class StaffAct(models.Model):
    """What an operator does about a charge: at once, or as a request that a second person decides."""

    class Kind(models.TextChoices):
        CAPTURE = "capture"
        VOID = "void"  # of a captured charge
        REFUND = "refund"
        RELEASE = "release"  # of a hold
        EXTEND = "extend"

    class State(models.TextChoices):
        PROPOSED = "proposed"  # waits for a second person
        APPROVED = "approved"  # to be done, by the second person's word or by the first one's alone
        DONE = "done"  # asked of the provider, and answered as the API answers
        REFUSED = "refused"  # not done: the charge did not allow it, or the provider did not
        DECLINED = "declined"  # by the second person
        WITHDRAWN = "withdrawn"  # by whoever proposed it
        EXPIRED = "expired"

    # Kinds that give money back, which nobody does alone above their limit.
    OUTWARD = (Kind.VOID, Kind.REFUND)

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    charge = models.ForeignKey(Charge, models.PROTECT, related_name="staff_acts")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    # What is to be captured or given back; of a whole charge, what was at stake when it was proposed.
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=NOTE_MAX_LENGTH, validators=[free_of_secrets])
    state = models.CharField(max_length=9, choices=State.choices, default=State.PROPOSED)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # Up to how much whoever proposed it could do alone then; empty where they had no limit for the currency.
    limit = models.BigIntegerField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=NOTE_MAX_LENGTH, blank=True, default="", validators=[free_of_secrets])
    # What those have in common that were proposed together.
    batch = models.UUIDField(null=True, blank=True)
    # When a request that nobody has decided ends.
    expires_at = models.DateTimeField()
    attempt = models.OneToOneField(Attempt, models.PROTECT, null=True, blank=True, related_name="staff_act")
    # Why it was refused: one of the codes of the API's errors.
    code = models.CharField(max_length=40, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = StaffActQuerySet.as_manager()

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
            ("decide_staffact", "Can approve and decline acts of others"),
        ]
        constraints = [
            models.CheckConstraint(name="staff_act_of_some_amount", condition=Q(amount__gte=1, amount__lte=AMOUNT_MAX)),
            models.CheckConstraint(
                name="staff_act_kind_is_known",
                condition=Q(kind__in=["capture", "void", "refund", "release", "extend"]),
            ),
            models.CheckConstraint(name="staff_act_has_reason", condition=Q(reason__regex=SOMETHING_WRITTEN)),
            models.CheckConstraint(
                name="staff_act_decided_by_another",
                condition=Q(decided_by__isnull=True) | ~Q(decided_by=F("proposed_by")),
            ),
            models.CheckConstraint(
                name="staff_act_decided_whole",
                condition=Q(state="declined") & _DECIDED
                | Q(state__in=["approved", "done", "refused"]) & (_DECIDED | _UNDECIDED)
                | Q(state__in=["proposed", "withdrawn", "expired"]) & _UNDECIDED,
            ),
            models.CheckConstraint(
                name="staff_act_above_the_limit_by_two",
                condition=Q(state__in=["proposed", "declined", "withdrawn", "expired"])
                | ~Q(kind__in=["void", "refund"])
                | Q(decided_by__isnull=False)
                | Q(limit__isnull=False, amount__lte=F("limit")),
            ),
            models.CheckConstraint(
                name="staff_act_ends_with_attempt_or_code",
                condition=Q(state="done", attempt__isnull=False, code="")
                | Q(state="refused") & ~Q(code="")
                | Q(state__in=["proposed", "approved", "declined", "withdrawn", "expired"], attempt=None, code=""),
            ),
        ]
        indexes = [
            models.Index(F("expires_at"), name="staff_act_open", condition=Q(state__in=["proposed", "approved"])),
            models.Index(F("batch"), name="staff_act_of_batch", condition=Q(batch__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.charge_id.hex}"

    @property
    def idempotency_key(self) -> str:
        """Under which it is asked for, however often."""
        return f"act-{self.id.hex}"


class ActLimit(models.Model):
    """Up to how much of a charge a role gives back alone, in one currency; without one, a second person must agree."""

    role = models.ForeignKey("auth.Group", models.CASCADE, related_name="act_limits", db_index=False)
    currency = models.CharField(max_length=3)
    amount = models.BigIntegerField()

    class Meta:
        verbose_name = "approval limit"
        verbose_name_plural = "approval limits"
        # To allow nothing alone is to set it to zero: a migration makes a missing default again.
        default_permissions = ("view", "add", "change")
        constraints = [
            models.UniqueConstraint(F("role"), F("currency"), name="one_act_limit_per_role_and_currency"),
            models.CheckConstraint(name="act_limit_in_bounds", condition=Q(amount__gte=0, amount__lte=AMOUNT_MAX)),
        ]

    def __str__(self) -> str:
        return f"{self.role}, {self.currency}"
