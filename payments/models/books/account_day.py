"""Daily sums of the ledger, computed once when a day is over: by account for statements, and of each settlement."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.db.checks import checks
from payments.db.fields import OwnOneToOneField
from payments.models.books.ledger import Posting, Settlement
from payments.models.merchants.merchant import Merchant


class AccountDay(models.Model):
    """What one kind of movement debited and credited to an account of a merchant on a day (UTC).

    Postings never change, so neither do these sums; the money checks compare them.
    """

    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    currency = models.CharField(max_length=3)
    day = models.DateField()
    account = models.CharField(max_length=19, choices=Posting.Account.choices)
    kind = models.CharField(max_length=15, choices=Posting.Kind.choices)
    debits = models.BigIntegerField()
    credits = models.BigIntegerField()
    postings = models.PositiveIntegerField()

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                *(F("merchant"), F("livemode"), F("currency"), F("day"), F("account"), F("kind")),
                name="account_day_once",
            ),
            *checks(
                account_day_of_something=Q(debits__gte=0, credits__gte=0, postings__gte=1),
            ),
        ]
        indexes = [models.Index(F("day"), name="account_day_by_day")]

    def __str__(self) -> str:
        return f"{self.day} {self.account} {self.kind}"


class LedgerDay(models.Model):
    """A day (UTC) of the ledger whose sums are computed; all earlier days have theirs too."""

    day = models.DateField(primary_key=True)
    # Of all merchants.
    postings = models.PositiveIntegerField(default=0)
    summed_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        verbose_name = "trial balance"
        verbose_name_plural = "trial balances"
        default_permissions = ("view",)
        permissions = [("download_ledgerday", "Can download trial balances")]

    def __str__(self) -> str:
        return f"Trial balance {self.day}"


class SettlementTotal(models.Model):
    """What the charges of one settlement amount to, computed after its day: after it no charge joins it."""

    settlement = OwnOneToOneField(Settlement, models.PROTECT, primary_key=True, related_name="total")
    # The settlement's.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    charges = models.PositiveIntegerField()
    gross = models.BigIntegerField()
    refunds = models.BigIntegerField()
    fees = models.BigIntegerField()
    net = models.BigIntegerField()

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"total of {self.settlement_id.hex}"


class Account(Merchant):
    """A merchant in the list of accounts."""

    objects: ClassVar[models.Manager["Account"]] = models.Manager()

    class Meta:
        proxy = True
        default_permissions = ("view",)


class Statement(Merchant):
    """A merchant in the list of statements."""

    objects: ClassVar[models.Manager["Statement"]] = models.Manager()

    class Meta:
        verbose_name, verbose_name_plural = _("statement"), _("statements")
        proxy = True
        default_permissions = ("view",)
        permissions = [("download_statement", "Can download statements")]
