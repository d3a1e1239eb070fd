"""The ledger: immutable double-entry postings, and the daily batches of settlement."""

from django.db import models
from django.db.models import F, Q
from django.db.models.lookups import Exact, IsNull

from payments import clock, ids
from payments.db.checks import RowRules, checks
from payments.db.fast_model import FastModel
from payments.db.fields import OwnForeignKey
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.books.payout import Payout
from payments.models.charging.charge import Charge
from payments.models.merchants.merchant import Merchant


class Settlement(models.Model):
    """A merchant's daily batch in one mode and currency; its amount is the sum of its postings."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    currency = models.CharField(max_length=3)
    day = models.DateField()
    # A payout may take a settlement before its day is over only in test mode, where time passes faster; what settles
    # after that is in the next one.
    number = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    objects = ScopedQuerySet["Settlement"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                *(F("merchant"), F("livemode"), F("currency"), F("day"), F("number")),
                name="one_settlement_per_merchant_and_day",
            ),
            *checks(
                settlement_one_a_day_in_live_mode=Q(livemode=False) | Q(number=1),
            ),
        ]

    __str__ = ids.shown_as("set")


def _of_balance(account: str) -> models.Index:
    """Return the index by which the list of a merchant's balance finds the lines on `account`."""
    columns = (F("merchant"), F("livemode"), F("currency"), F("id"))
    return models.Index(*columns, name=f"posting_{account}", condition=Q(account=account))


class Posting(FastModel):
    """One line of a journal: a positive `amount` is a debit, a negative one a credit.

    The lines of a journal are about one charge or payout and sum to zero, the two memo accounts separately. The
    database checks that at the end of each statement, and refuses to change or delete a line. A foreign key to a
    posting needs `db_constraint=False`, because its check locks the line, which the application may not do.
    """

    class Account(models.TextChoices):
        # Memo: amounts on hold at providers, and for merchants. No money has moved.
        PROVIDER_HOLD = "provider_hold", "Provider hold"
        MERCHANT_HOLD = "merchant_hold", "Merchant hold"
        # Assets: what providers owe us, and what they have settled.
        PROVIDER_RECEIVABLE = "provider_receivable", "Provider receivable"
        BANK = "bank"
        # Liabilities: what we owe merchants before and after settlement, what is kept of it or on its way to
        # their banks, and what payers get back.
        MERCHANT_PENDING = "merchant_pending", "Merchant pending"
        MERCHANT_PAYABLE = "merchant_payable", "Merchant payable"
        MERCHANT_RESERVE = "merchant_reserve", "Merchant reserve"
        PAYOUTS_IN_TRANSIT = "payouts_in_transit", "Payouts in transit"
        REFUNDS_IN_TRANSIT = "refunds_in_transit", "Refunds in transit"
        REVERSALS = "reversals"
        # Income.
        FEES = "fees"

    class Kind(models.TextChoices):
        HOLD = "hold"
        RELEASE = "release"  # of a hold, or of what a capture left of it
        CAPTURE = "capture"
        FEE = "fee"
        VOID = "void"  # of a captured charge, its fee included
        REFUND = "refund"  # asked of the provider
        REFUND_SETTLED = "refund_settled", "Refund settled"
        REFUND_FAILED = "refund_failed", "Refund failed"
        LATE = "late"  # money that arrived after the charge had failed
        REVERSAL = "reversal"  # such money given back
        DISPUTE = "dispute"  # money that the payer's bank took back
        DISPUTE_WON = "dispute_won", "Dispute won"  # such money given back to the merchant
        DISPUTE_FEE = "dispute_fee", "Dispute fee"  # taken with that money, and given back with it
        SETTLE = "settle"
        PAYOUT = "payout"
        PAYOUT_PAID = "payout_paid", "Payout paid"
        PAYOUT_FAILED = "payout_failed", "Payout failed"  # or cancelled, or returned
        PAYOUT_LATE = "payout_late", "Payout late"  # paid after it had failed
        RESERVE = "reserve"  # kept of a payout
        RESERVE_RELEASE = "reserve_release", "Reserve release"

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    journal = models.UUIDField()
    # From 1 without gaps, as a trigger checks; the first line is there once, so no later statement adds to a journal.
    line = models.SmallIntegerField()
    # A trigger that runs once for a statement stands for these foreign keys (migrations/sql/ledger.sql).
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    livemode = models.BooleanField()
    currency = models.CharField(max_length=3)
    account = models.CharField(max_length=19, choices=Account.choices)
    kind = models.CharField(max_length=15, choices=Kind.choices)
    amount = models.BigIntegerField()
    charge = OwnForeignKey(Charge, models.PROTECT, null=True, blank=True, related_name="postings", db_constraint=False)
    payout = OwnForeignKey(
        Payout, models.PROTECT, null=True, blank=True, related_name="postings", db_constraint=False, db_index=False
    )
    # The attempt by which a provider moved this money, and whose reference is in the provider's reports.
    attempt_id = models.UUIDField(null=True, blank=True)
    settlement = OwnForeignKey(
        Settlement, models.PROTECT, null=True, blank=True, related_name="postings", db_constraint=False, db_index=False
    )
    created_at = models.DateTimeField(default=clock.now, editable=False)

    objects = ScopedQuerySet["Posting"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(F("journal"), name="posting_starts_journal_once", condition=Q(line=1)),
            RowRules(
                name="posting_follows_rules",
                rules={
                    "posting_moves_something": ~Q(amount=0),
                    # The trigger that checks the numbers has a bit for each.
                    "posting_line_in_range": Q(line__range=(1, 29)),
                    "posting_of_a_charge_or_a_payout": Exact(IsNull(F("charge"), True), IsNull(F("payout"), False)),
                    "posting_settles_in_a_settlement": Exact(
                        Exact(F("kind"), "settle"), IsNull(F("settlement"), False)
                    ),
                },
            ),
        ]
        indexes = [
            models.Index(F("payout"), name="posting_of_payout", condition=Q(payout__isnull=False)),
            # What payouts changed of a merchant's balance, by time.
            models.Index(
                *(F("merchant"), F("livemode"), F("id")),
                name="posting_paid_out",
                condition=Q(account="merchant_payable", payout__isnull=False),
            ),
            # What was settled, and so what a payout is made of, in order.
            models.Index(F("settlement"), F("id"), name="posting_of_settlement", condition=Q(settlement__isnull=False)),
            *(_of_balance(account) for account in ("merchant_pending", "merchant_payable", "merchant_reserve")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.account} {self.amount}"


class RunningBalance(models.Model):
    """The sums of a merchant's postings by account in one currency; a balance is the sum of its shards.

    A trigger on the postings updates these rows. Each database connection writes to one of 16 shards, so that charges
    of one merchant seldom wait for each other.
    """

    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    livemode = models.BooleanField()
    currency = models.CharField(max_length=3)
    shard = models.SmallIntegerField()
    provider_hold = models.BigIntegerField(default=0)
    merchant_hold = models.BigIntegerField(default=0)
    provider_receivable = models.BigIntegerField(default=0)
    bank = models.BigIntegerField(default=0)
    merchant_pending = models.BigIntegerField(default=0)
    merchant_payable = models.BigIntegerField(default=0)
    merchant_reserve = models.BigIntegerField(default=0)
    payouts_in_transit = models.BigIntegerField(default=0)
    refunds_in_transit = models.BigIntegerField(default=0)
    reversals = models.BigIntegerField(default=0)
    fees = models.BigIntegerField(default=0)

    objects = ScopedQuerySet["RunningBalance"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["merchant", "livemode", "currency", "shard"], name="one_running_balance_per_shard"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.currency} {self.shard}"
