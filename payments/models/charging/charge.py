from typing import Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Least
from django.db.models.lookups import Exact, GreaterThan, GreaterThanOrEqual, IsNull, LessThan
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import RowRules, checks, one_of
from payments.db.fast_model import FastModel
from payments.db.fields import OwnForeignKey, VerbatimJSONField
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.charging.source import Source
from payments.models.merchants.merchant import Merchant

AMOUNT_MAX = 99_999_999_999
# A hold may be extended by this many days in all; it then ends 28 days after the authorization.
EXTENDED_DAYS_MAX = 21
# The codes in `failure_data` of a charge that nobody declined: its payer cancelled it, or never came.
ABANDONED = ("action_expired", "payer_cancelled")


# What rendering does not read of a charge, its source and its card.
NOT_SHOWN = (
    *("merchant", "customer_id", "checkout", "single_use", "redirect_url", "capture_at_once", "operation", "version"),
    *("initiator", "schedule"),
    *("fee", "fee_basis_points", "fee_fixed", "settle_due_at", "settled_at", "amount_disputed", "reversed_late"),
    *("action_expires_at", "hold_expires_at", "hold_extended_days"),
    *(f"source__{name}" for name in ("merchant", "customer_id", "version")),
    *(f"source__card__{name}" for name in ("merchant", "bin", "fingerprint", "sealed_number", "number_expires_at")),
    *(f"source__card__{name}" for name in ("sealed_cvc", "cvc_expires_at", "refused_until", "network_reference")),
)


class ChargeQuerySet(ScopedQuerySet["Charge"]):
    def whole(self) -> Self:
        """Return the charges with source, card and refunds (newest first), as rendering needs them."""
        refunds = models.Prefetch("refunds", Refund.objects.order_by("-id"), to_attr="refund_list")
        return self.select_related("source__card").prefetch_related(refunds)

    def shown(self) -> Self:
        """Return whole charges without the columns that rendering does not read, for long lists."""
        return self.whole().defer(*NOT_SHOWN)


class Charge(FastModel):
    """A charge. Only `payments.domain.charging.state_machine` changes its state."""

    class Status(models.TextChoices):
        PENDING = "pending", _("Pending")
        SUCCEEDED = "succeeded", _("Succeeded")
        FAILED = "failed", _("Failed")
        VOIDED = "voided", _("Voided")
        REFUNDED = "refunded", _("Refunded")

    class Initiator(models.TextChoices):
        MERCHANT = "merchant", _("Merchant")  # without the payer, who agreed when the source was kept
        CUSTOMER = "customer", _("Customer")

    class Schedule(models.TextChoices):
        UNSCHEDULED = "unscheduled", _("Unscheduled")
        RECURRING = "recurring", _("Recurring")  # one of a series at fixed times

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # No constraint: it is its source's merchant (migrations/sql/merchant_terms.sql).
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    livemode = models.BooleanField()
    # The index that begins with the source serves this key too.
    source = OwnForeignKey(Source, models.PROTECT, related_name="charges", db_index=False)
    # The customer whose source it is, or will be if a single-use charge succeeds.
    customer_id = models.UUIDField(null=True, blank=True)
    # The checkout that it pays, if any. Mostly NULL, so it has a partial index below.
    checkout = OwnForeignKey(
        "payments.Checkout", models.PROTECT, null=True, blank=True, related_name="charges", db_index=False
    )
    # False for a charge on a vaulted source, which may be charged any number of times.
    single_use = models.BooleanField()
    # What card networks want to know of a charge on a vaulted source. Any other is its payer's, at the checkout.
    initiator = models.CharField(_("initiator"), max_length=8, choices=Initiator.choices, default=Initiator.CUSTOMER)
    schedule = models.CharField(_("schedule"), max_length=11, choices=Schedule.choices, default=Schedule.UNSCHEDULED)
    amount = models.BigIntegerField()
    amount_captured = models.BigIntegerField(default=0)
    amount_refunded = models.BigIntegerField(default=0)
    currency = models.CharField(_("currency"), max_length=3)
    status = models.CharField(_("status"), max_length=9, choices=Status.choices, default=Status.PENDING)
    authorized = models.BooleanField(_("authorized"), default=False)
    captured = models.BooleanField(_("captured"), default=False)
    # The merchant's rate when the charge was created, and the fee that was posted at capture.
    fee_basis_points = models.SmallIntegerField(default=0)
    fee_fixed = models.BigIntegerField(default=0)
    fee = models.BigIntegerField(default=0)
    # When the next settlement is due: captured, refunded or returned money that is not settled yet.
    settle_due_at = models.DateTimeField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)
    capture_at_once = models.BooleanField(default=True)
    require_auth = models.BooleanField(_("require auth"), default=True)
    statement_descriptor = models.CharField(_("statement descriptor"), max_length=100)
    description = models.CharField(_("description"), max_length=255)
    redirect_url = models.CharField(_("redirect url"), max_length=2083, blank=True)
    metadata = VerbatimJSONField(null=True, blank=True)
    action = VerbatimJSONField(null=True, blank=True)
    action_expires_at = models.DateTimeField(null=True, blank=True)
    hold_expires_at = models.DateTimeField(null=True, blank=True)
    # The days by which `hold_expires_at` was extended.
    hold_extended_days = models.SmallIntegerField(default=0)
    failure_data = VerbatimJSONField(null=True, blank=True)
    # The capture, void, refund or extension under way ("" for none). No other operation may start until its outcome
    # is known.
    operation = models.CharField(_("operation"), max_length=7, blank=True, default="")
    # Money arrived at the provider after this charge had failed, and was reversed there; operators check these.
    reversed_late = models.BooleanField(_("reversed late"), default=False)
    # Whether the payer's bank has ever disputed it, and how much of it the bank has taken back.
    disputed = models.BooleanField(default=False)
    amount_disputed = models.BigIntegerField(default=0)
    # Counts the changes, each of which writes one event: guard of every update, and the last event's sequence.
    version = models.IntegerField(default=1)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = ChargeQuerySet.as_manager()
    # Set by `whole()`, or directly for a new charge.
    refund_list: list["Refund"]

    class Meta:
        verbose_name, verbose_name_plural = _("charge"), _("charges")
        constraints = [
            RowRules(
                name="charge_follows_rules",
                rules={
                    "charge_amount_in_bounds": Q(amount__gte=1, amount__lte=AMOUNT_MAX),
                    "charge_has_nothing_negative": GreaterThanOrEqual(
                        Least(
                            *("amount_captured", "amount_refunded", "amount_disputed", "fee", "fee_fixed"),
                            *("fee_basis_points", "hold_extended_days", "version"),
                            output_field=models.BigIntegerField(),
                        ),
                        0,
                    ),
                    "charge_captured_within_amount": Q(amount_captured__lte=F("amount")),
                    "charge_refunded_within_captured": Q(amount_refunded__lte=F("amount_captured")),
                    "charge_disputed_within_captured": Q(amount_disputed__lte=F("amount_captured")),
                    "charge_captured_has_amount": Exact(F("captured"), GreaterThan(F("amount_captured"), 0)),
                    # A held charge has captured nothing, and refunded nothing.
                    "charge_flags_match_status": Q(
                        Exact(F("captured"), LessThan(F("amount_refunded"), F("amount_captured"))), status="succeeded"
                    )
                    & ~Q(authorized=F("captured"))
                    | Q(authorized=False)
                    & (
                        Q(status="pending", captured=False)
                        | Q(status="failed", captured=False)
                        | Q(status="voided")
                        | Q(status="refunded", captured=True, amount_refunded=F("amount_captured"))
                    ),
                    "charge_failed_says_why": Exact(Exact(F("status"), "failed"), IsNull(F("failure_data"), False)),
                    "charge_of_single_use_is_the_payers": Q(initiator="customer", schedule="unscheduled")
                    | Q(
                        single_use=False,
                        initiator__regex=one_of("merchant", "customer"),
                        schedule__regex=one_of("unscheduled", "recurring"),
                    ),
                    "charge_operation_is_known": Q(operation__regex=one_of("", "capture", "void", "refund", "extend")),
                    "charge_hold_extended_in_bounds": Q(hold_extended_days__lte=EXTENDED_DAYS_MAX),
                    "charge_fee_within_captured": Q(fee__lte=F("amount_captured")),
                    # What is captured has succeeded, or was voided or refunded.
                    "charge_settles_what_it_took": Q(settle_due_at__isnull=True, settled_at__isnull=True)
                    | Q(captured=True) & ~Q(status="voided"),
                },
            ),
            models.UniqueConstraint(F("source"), name="one_charge_per_single_use_source", condition=Q(single_use=True)),
            models.UniqueConstraint(
                F("checkout"),
                name="one_payment_per_checkout",
                condition=Q(checkout__isnull=False) & ~Q(status="failed"),
            ),
        ]
        indexes = [
            models.Index(F("merchant"), F("livemode"), F("id"), name="charge_of_merchant"),
            models.Index(F("merchant"), F("livemode"), F("status"), F("captured"), F("id"), name="charge_in_state"),
            models.Index(F("source"), F("status"), F("captured"), F("id"), name="charge_of_source"),
            models.Index(
                F("customer_id"),
                F("status"),
                F("captured"),
                F("id"),
                name="charge_of_customer",
                condition=Q(customer_id__isnull=False),
            ),
            models.Index(F("checkout"), name="charge_of_checkout", condition=Q(checkout__isnull=False)),
            models.Index(F("status"), F("captured"), F("livemode"), F("id"), name="charge_by_state"),
            models.Index(
                F("hold_expires_at"), F("id"), name="charge_hold_due", condition=Q(hold_expires_at__isnull=False)
            ),
            models.Index(
                *(F("merchant"), F("livemode"), F("hold_expires_at"), F("id")),
                name="charge_hold_of_merchant",
                condition=Q(hold_expires_at__isnull=False),
            ),
            models.Index(F("settle_due_at"), name="charge_settle_due", condition=Q(settle_due_at__isnull=False)),
        ]

    __str__ = ids.shown_as("ch")


class Refund(FastModel):
    """A refund of all or part of a charge to the payer."""

    class Status(models.TextChoices):
        PENDING = "pending", _("Pending")
        SUCCEEDED = "succeeded", _("Succeeded")
        FAILED = "failed", _("Failed")

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+")
    livemode = models.BooleanField()
    # The index of both serves this key too.
    charge = OwnForeignKey(Charge, models.PROTECT, related_name="refunds", db_index=False)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    reason = models.CharField(_("reason"), max_length=255)
    status = models.CharField(_("status"), max_length=9, choices=Status.choices, default=Status.PENDING)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = ScopedQuerySet["Refund"].as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("refund"), _("refunds")
        constraints = checks(
            refund_amount_positive=Q(amount__gte=1),
            refund_status_is_known=Q(status__in=["pending", "succeeded", "failed"]),
        )
        indexes = [
            # Of the charge alone, it would cost no less than that of the merchant where a table was not analyzed yet.
            models.Index(F("charge"), F("merchant"), name="refund_of_charge"),
            models.Index(F("id"), name="refund_pending", condition=Q(status="pending")),
        ]

    __str__ = ids.shown_as("re")
