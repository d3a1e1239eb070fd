"""Payouts made of a merchant's balance, and the parts of it that each is made of."""

from typing import Self
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments import bank_accounts, clock, ids
from payments.db.checks import checks
from payments.db.fast_model import FastModel
from payments.db.fields import OwnForeignKey, OwnOneToOneField
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.books.payout_file import PayoutFile
from payments.models.books.payout_schedule import PayoutAccount
from payments.models.merchants.merchant import Merchant
from payments.models.operators.approval_request import ApprovalRequest
from payments.models.routing.provider_account import ProviderAccount

WHY_MAX_LENGTH = 300
FOR_FILE = Q(
    livemode=True, status="pending", provider_account__isnull=True, approved_at__isnull=False, file__isnull=True
)
# Accounts that need no closer look: of almost all.
SURELY_WRITTEN = Q(holder__regex="[A-Za-z0-9]", bic__regex="^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$")


class PayoutQuerySet(ScopedQuerySet["Payout"]):
    def for_file(self) -> Self:
        """Return those that the next bank files take."""
        waiting = self.filter(FOR_FILE)
        return waiting.exclude(account__in=_unwritable(waiting))

    def left_out(self) -> Self:
        """Return those that wait for a bank file and that every file leaves out: no bank can write their accounts."""
        waiting = self.filter(FOR_FILE)
        return waiting.filter(account__in=_unwritable(waiting))


def _unwritable(waiting: PayoutQuerySet) -> list[UUID]:
    accounts = PayoutAccount.objects.filter(id__in=waiting.values("account")).exclude(SURELY_WRITTEN)
    return [row.id for row in accounts.only("holder", "bic") if bank_accounts.obstacle(row.holder, row.bic)]


class Payout(FastModel):
    """Money on its way to a merchant's bank. Only `payments.domain.payouts` changes it, and only forward."""

    class Status(models.TextChoices):
        PENDING = "pending", _("Pending")
        IN_TRANSIT = "in_transit", _("In transit")
        PAID = "paid", _("Paid")
        FAILED = "failed", _("Failed")  # refused or returned by a bank: the merchant's balance has the money again
        CANCELLED = "cancelled", _("Cancelled")  # before it was sent: likewise

    # Those whose money has not reached the merchant's bank yet.
    UNDER_WAY = (Status.PENDING, Status.IN_TRANSIT)

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    currency = models.CharField(_("currency"), max_length=3)
    account = OwnForeignKey(PayoutAccount, models.PROTECT, related_name="+", db_index=False)
    # As the schedule had it: the provider carries the payout out; without one, a live payout goes into a bank file.
    provider_account = models.ForeignKey(
        ProviderAccount, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    # What is paid, and what was kept of the same balance until `reserve_due_at`.
    amount = models.BigIntegerField()
    reserve = models.BigIntegerField(default=0)
    reserve_due_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    failure_code = models.CharField(_("failure code"), max_length=30, blank=True, default="")
    # Of one that a provider carries out: when it is sent or looked up next; while it is claimed, when the lease ends.
    due_at = models.DateTimeField(null=True, blank=True)
    # When the provider was asked for it; empty where it certainly has not got it.
    asked_at = models.DateTimeField(null=True, blank=True)
    # How often it was sent, and how often looked up since then or since the provider's last answer.
    tries = models.PositiveIntegerField(default=0)
    lookups = models.PositiveIntegerField(default=0)
    provider_ref = models.CharField(max_length=100, blank=True, default="")
    # Why it was not sent yet, or why its outcome is not known; for operators.
    why = models.CharField(max_length=WHY_MAX_LENGTH, blank=True, default="")
    # The operator who asked for it; nobody where a schedule made it.
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    # Of a live one: the request by which it goes out, done when it was approved.
    approval = OwnOneToOneField(ApprovalRequest, models.PROTECT, null=True, blank=True, related_name="+")
    approved_at = models.DateTimeField(null=True, blank=True)
    # The bank file that it is in, unless that was cancelled.
    file = models.ForeignKey(PayoutFile, models.PROTECT, null=True, blank=True, related_name="payouts", db_index=False)
    sent_at = models.DateTimeField(null=True, blank=True)
    paid_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = PayoutQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("payout"), _("payouts")
        default_permissions = ("view",)
        permissions = [
            ("make_payout", "Can pay out now"),
            ("approve_payout", "Can approve payouts"),
            ("cancel_payout", "Can cancel payouts"),
            ("record_payout", "Can request that payouts are recorded as paid or returned"),
        ]
        constraints = checks(
            payout_pays_something=Q(amount__gte=1, reserve__gte=0),
            payout_moments_follow_status=Q(
                status="pending", sent_at__isnull=True, paid_at__isnull=True, ended_at__isnull=True
            )
            | Q(status="in_transit", sent_at__isnull=False, paid_at__isnull=True, ended_at__isnull=True)
            | Q(status="paid", sent_at__isnull=False, paid_at__isnull=False, ended_at__isnull=True)
            | Q(status="failed", sent_at__isnull=False, ended_at__isnull=False)
            | Q(status="cancelled", sent_at__isnull=True, paid_at__isnull=True, ended_at__isnull=False),
            payout_failure_has_a_code=Q(status="failed") & ~Q(failure_code="")
            | ~Q(status="failed") & Q(failure_code=""),
            payout_reserve_is_of_something=Q(reserve_due_at__isnull=True)
            | Q(reserve__gte=1, status__in=["pending", "in_transit", "paid"]),
            live_payout_is_approved_before_it_is_sent=Q(livemode=False)
            | Q(status__in=["pending", "cancelled"])
            | Q(approved_at__isnull=False),
            payout_approval_is_of_a_request=Q(approved_at__isnull=True, approval__isnull=True)
            | Q(approved_at__isnull=False, approval__isnull=False),
            payout_in_file_is_approved_and_live=Q(file__isnull=True)
            | Q(livemode=True, provider_account__isnull=True, approved_at__isnull=False) & ~Q(status="cancelled"),
            live_payout_is_sent_by_file_or_provider=Q(livemode=False)
            | Q(sent_at__isnull=True)
            | Q(provider_account__isnull=False)
            | Q(file__isnull=False),
            payout_that_a_provider_may_have_is_not_cancelled=Q(asked_at__isnull=True) | ~Q(status="cancelled"),
            live_payout_is_approved_before_a_provider_is_asked=Q(livemode=False)
            | Q(due_at__isnull=True, asked_at__isnull=True)
            | Q(approved_at__isnull=False, provider_account__isnull=False),
        )
        indexes = [
            models.Index(F("merchant"), F("livemode"), F("id"), name="payout_of_merchant"),
            models.Index(F("merchant"), F("livemode"), F("status"), F("id"), name="payout_in_status"),
            models.Index(
                *(F("merchant"), F("livemode"), F("currency"), F("status"), F("id")), name="payout_in_currency"
            ),
            models.Index(F("due_at"), name="payout_due", condition=Q(due_at__isnull=False)),
            models.Index(
                F("id"),
                name="payout_to_approve",
                condition=Q(livemode=True, status="pending", approved_at__isnull=True),
            ),
            models.Index(F("ended_at"), name="payout_failed", condition=Q(status="failed")),
            models.Index(
                F("approved_at"),
                name="payout_to_send",
                condition=Q(
                    status="pending",
                    livemode=True,
                    due_at__isnull=True,
                    approved_at__isnull=False,
                    provider_account__isnull=False,
                ),
            ),
            models.Index(F("reserve_due_at"), name="payout_reserve_due", condition=Q(reserve_due_at__isnull=False)),
            models.Index(F("file"), F("id"), name="payout_of_file", condition=Q(file__isnull=False)),
            models.Index(
                *(F("currency"), F("id")),
                name="payout_for_file",
                condition=FOR_FILE,
            ),
        ]

    __str__ = ids.shown_as("po")

    @property
    def waits_for_approval(self) -> bool:
        return self.livemode and self.status == self.Status.PENDING and self.approved_at is None

    @property
    def reserved(self) -> int:
        """Return what is still kept of it in reserve."""
        return self.reserve if self.reserve_due_at else 0

    @property
    def obstacle(self) -> str:
        """Return why every bank file leaves it out; empty where none does."""
        if not self.livemode or self.provider_account_id or self.status != self.Status.PENDING:
            return ""
        why = bank_accounts.obstacle(self.account.holder, self.account.bic)
        return f"{why} Set another bank account, then cancel this payout." if why else ""


class PayoutPart(models.Model):
    """A part of a merchant's balance that is paid out once: a settlement, or a posting outside of settlements.

    The database makes it with the settlement or the posting, whose ID it has. `payout` takes it, and no settlement
    takes a posting after that.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    livemode = models.BooleanField()
    currency = models.CharField(max_length=3)
    is_settlement = models.BooleanField()
    # What we owe the merchant of it; a settlement's is known when it is taken.
    amount = models.BigIntegerField(null=True, blank=True)
    payable_at = models.DateTimeField()
    payout = OwnForeignKey(Payout, models.PROTECT, null=True, blank=True, related_name="parts", db_index=False)

    objects = ScopedQuerySet["PayoutPart"].as_manager()

    class Meta:
        default_permissions = ()
        constraints = checks(
            payout_part_amount_is_known=Q(amount__isnull=False) | Q(is_settlement=True, payout__isnull=True),
        )
        indexes = [
            models.Index(
                *(F("merchant"), F("livemode"), F("currency"), F("payable_at")),
                name="payout_part_left",
                condition=Q(payout__isnull=True),
            ),
            models.Index(F("payout"), F("id"), name="payout_part_of", condition=Q(payout__isnull=False)),
        ]

    def __str__(self) -> str:
        return ids.public_id("set" if self.is_settlement else "txn", self.id)
