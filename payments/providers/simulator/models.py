"""The simulator's own books, apart from kaha's: requests, money moved, and messages to deliver."""

from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import RowRules, checks
from payments.db.fast_model import FastModel
from payments.providers.base import Operation

PIN_TRIES = 3
EXTENDED_DAYS_MAX = 21


class SimulatedPayment(FastModel):
    """A payment as the provider knows it. Of a card it holds neither number nor CVC."""

    class State(models.TextChoices):
        AWAITING = "awaiting"  # its payer
        HELD = "held"
        CAPTURED = "captured"
        VOIDED = "voided"
        DECLINED = "declined"
        CANCELLED = "cancelled"  # by us, while it awaited its payer

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    reference = models.CharField(max_length=32)
    amount = models.BigIntegerField()
    amount_captured = models.BigIntegerField(default=0)
    amount_refunded = models.BigIntegerField(default=0)
    currency = models.CharField(max_length=3)
    source_type = models.CharField(max_length=20)
    capture = models.BooleanField()
    payer_absent = models.BooleanField(default=False)
    return_url = models.CharField(max_length=2083)
    last4 = models.CharField(max_length=4, blank=True, default="")
    cvc_checked = models.CharField(max_length=11, default="unchecked")
    refunds = models.CharField(max_length=13)
    state = models.CharField(max_length=9, choices=State.choices)
    decline_code = models.CharField(max_length=30, blank=True, default="")
    # SHA-256 of the payer page's token; empty for a payment that never asked its payer.
    token_digest = models.BinaryField(max_length=32, null=True, unique=True)
    expires_at = models.DateTimeField(null=True)
    pin_tries = models.SmallIntegerField(default=0)
    # How many days longer a hold is kept than it was at first.
    extended_days = models.SmallIntegerField(default=0)
    # How the payer's bank disputes it ("" for never): the steps taken, when the next is due, and what the bank has.
    story = models.CharField(max_length=7, blank=True, default="")
    dispute_step = models.SmallIntegerField(default=0)
    dispute_due_at = models.DateTimeField(null=True)
    # The merchant's response: "" for none yet, "accept", or "winning" or "losing" evidence.
    dispute_response = models.CharField(max_length=7, blank=True, default="")
    amount_disputed = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        constraints = [
            RowRules(
                name="simulated_payment_follows_rules",
                rules={
                    "simulated_amount_not_negative": Q(amount__gte=0),
                    "simulated_counts_not_negative": Q(pin_tries__gte=0, extended_days__gte=0, dispute_step__gte=0),
                    "simulated_captured_within_amount": Q(amount_captured__gte=0, amount_captured__lte=F("amount")),
                    "simulated_refunded_within_captured": Q(
                        amount_refunded__gte=0, amount_refunded__lte=F("amount_captured")
                    ),
                    "simulated_disputed_within_captured": Q(
                        amount_disputed__gte=0, amount_disputed__lte=F("amount_captured")
                    ),
                    "simulated_state_matches_money": Q(state="captured", amount_captured__gte=1)
                    | Q(state="voided")
                    | Q(state__in=["awaiting", "held", "declined", "cancelled"], amount_captured=0),
                    "simulated_decline_says_why": Q(state="declined") & ~Q(decline_code="")
                    | ~Q(state="declined") & Q(decline_code=""),
                    "simulated_awaiting_has_page": ~Q(state="awaiting")
                    | Q(token_digest__isnull=False, expires_at__isnull=False),
                    "simulated_only_cards_are_held": ~Q(state="held") | Q(source_type="card"),
                    "simulated_pin_tries_bounded": Q(pin_tries__lte=PIN_TRIES),
                    "simulated_hold_extended_in_bounds": Q(extended_days__lte=EXTENDED_DAYS_MAX),
                },
            ),
            models.UniqueConstraint(F("reference"), name="simulated_payment_once_per_reference"),
        ]
        indexes = [
            models.Index(F("expires_at"), name="simulated_page_due", condition=Q(state="awaiting")),
            models.Index(F("dispute_due_at"), name="simulated_dispute_due", condition=Q(dispute_due_at__isnull=False)),
        ]

    __str__ = ids.shown_as("sp")

    @property
    def is_overdue(self) -> bool:
        """Whether it still awaits its payer although the time for that is over."""
        over = self.expires_at is not None and self.expires_at <= clock.now()
        return over and self.state == self.State.AWAITING


class SimulatedOperation(FastModel):
    """What was asked for about a payment; the refused too, so that asking again changes nothing."""

    class State(models.TextChoices):
        SUCCEEDED = "succeeded"
        PENDING = "pending"
        FAILED = "failed"
        REFUSED = "refused"

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    reference = models.CharField(max_length=32)
    payment = models.ForeignKey(SimulatedPayment, models.PROTECT, related_name="operations")
    kind = models.CharField(max_length=7)
    amount = models.BigIntegerField()
    # By how many days a hold is to be extended.
    hold_days = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State.choices)
    # A refund that changes by itself later: when, and into what.
    settles_at = models.DateTimeField(null=True)
    settles_as = models.CharField(max_length=9, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(F("reference"), name="simulated_operation_once_per_reference"),
            *checks(
                simulated_operation_kind=Q(kind__in=[*map(str, Operation.Kind)]),
                simulated_only_refunds_settle=Q(settles_at__isnull=True, settles_as="")
                | Q(settles_at__isnull=False, kind="refund", settles_as__in=["succeeded", "failed"]),
            ),
        ]
        indexes = [models.Index(F("settles_at"), name="simulated_refund_due", condition=Q(settles_at__isnull=False))]

    __str__ = ids.shown_as("so")


class Entry(FastModel):
    """One accepted movement of money; never changed, never removed (a rule of the database)."""

    class Kind(models.TextChoices):
        HOLD = "hold"
        CAPTURE = "capture"
        RELEASE = "release"  # of what was held and not taken
        VOID = "void"  # of what was taken
        REFUND = "refund"
        REFUND_RETURNED = "refund_returned"
        DISPUTE = "dispute"
        DISPUTE_WON = "dispute_won"

    payment = models.ForeignKey(SimulatedPayment, models.PROTECT, related_name="entries")
    # Of the payment or operation that was asked for and moved this.
    reference = models.CharField(max_length=32)
    kind = models.CharField(max_length=15, choices=Kind.choices)
    amount = models.BigIntegerField()
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        verbose_name_plural = "entries"
        constraints = [
            *checks(
                simulated_entry_positive=Q(amount__gte=1),
            ),
            models.UniqueConstraint(F("reference"), F("kind"), name="simulated_entry_once_per_reference"),
        ]
        indexes = [models.Index(F("created_at"), name="simulated_entry_by_time")]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"


class SimulatedPayout(models.Model):
    """A payout as the bank knows it. Of its account it holds the last digits, which say what happens to it."""

    class State(models.TextChoices):
        LOST = "lost"  # its first request never arrived: the bank does not know it
        ACCEPTED = "accepted"
        PAID = "paid"
        FAILED = "failed"
        RETURNED = "returned"

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    reference = models.CharField(max_length=32)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    last4 = models.CharField(max_length=4)
    state = models.CharField(max_length=8, choices=State.choices)
    # The steps taken of what its account's number says, and when the next is due.
    step = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(F("reference"), name="simulated_payout_once_per_reference"),
            *checks(
                simulated_payout_positive=Q(amount__gte=1),
                simulated_payout_under_way_is_due=Q(state="accepted", due_at__isnull=False)
                | Q(state="paid")
                | Q(state__in=["lost", "failed", "returned"], due_at__isnull=True),
            ),
        ]
        indexes = [models.Index(F("due_at"), name="simulated_payout_due", condition=Q(due_at__isnull=False))]

    __str__ = ids.shown_as("spo")


class Message(FastModel):
    """A message of the simulator, delivered at least once, as a real provider's webhook."""

    body = models.TextField()
    due_at = models.DateTimeField(default=clock.now)
    delivered_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        indexes = [models.Index(F("due_at"), name="simulated_message_due", condition=Q(delivered_at__isnull=True))]

    def __str__(self) -> str:
        return f"message {self.pk}"
