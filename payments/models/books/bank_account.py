"""Our own bank accounts, the statements of them that were read, and what the movements on them are."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q

from payments import clock
from payments.db.checks import checks
from payments.models.books.payout import Payout
from payments.models.books.payout_file import PayoutFile
from payments.models.books.reconciliation import PROVIDER_LENGTH, ReconciliationRun, ReportLine


class OwnBankAccount(models.Model):
    """A bank account of ours, from which bank files are paid and to which providers pay."""

    # Runs, lines and items of its statements have it as their provider.
    name = models.CharField(
        max_length=PROVIDER_LENGTH,
        unique=True,
        validators=[RegexValidator(r"^[a-z][a-z0-9-]+\Z", "Small letters, digits and hyphens.")],
    )
    currency = models.CharField(max_length=3)
    # As in bank files: the whole number is in the settings alone.
    last4 = models.CharField(max_length=4, validators=[RegexValidator(r"^[A-Z0-9]{4}\Z", "Four letters or digits.")])
    # Those that pay to it.
    providers = ArrayField(models.CharField(max_length=PROVIDER_LENGTH), default=list, blank=True)
    # In so many days a payment leaves or arrives; what takes longer is late.
    days = models.PositiveSmallIntegerField(default=5, validators=[MinValueValidator(1), MaxValueValidator(60)])
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        verbose_name = "bank account"
        default_permissions = ("view", "add", "change")

    def __str__(self) -> str:
        return self.name


class BankStatement(models.Model):
    """A statement of one of our accounts, with its booked balances."""

    account = models.ForeignKey(OwnBankAccount, models.PROTECT, related_name="statements", db_index=False)
    run = models.ForeignKey(ReconciliationRun, models.PROTECT, related_name="statements")
    name = models.CharField(max_length=255)
    first_day = models.DateField()
    last_day = models.DateField()
    opening = models.BigIntegerField()
    closing = models.BigIntegerField()
    # By how much balances and movements differ.
    off = models.BigIntegerField(default=0)

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                *(F("account"), F("last_day"), F("first_day"), F("name"), F("opening"), F("closing")),
                name="bank_statement_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.last_day:%d %b %Y}"


class BankLine(models.Model):
    """What a movement on our account is: a payout, a bank file, or a batch that a provider paid."""

    line = models.OneToOneField(ReportLine, models.PROTECT, primary_key=True, related_name="bank")
    # What the bank wrote beside it.
    text = models.CharField(max_length=300, blank=True, default="")
    # No constraints: each stays, and the checks would lock busy rows.
    payout = models.ForeignKey(Payout, models.PROTECT, null=True, related_name="bank_lines", db_constraint=False)
    file = models.ForeignKey(PayoutFile, models.PROTECT, null=True, related_name="bank_lines", db_constraint=False)
    batch = models.ForeignKey(ReportLine, models.PROTECT, null=True, related_name="arrivals")
    # By amount and day alone, until a person confirms it.
    is_guess = models.BooleanField(default=False)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", db_index=False
    )

    class Meta:
        default_permissions = ()
        constraints = checks(
            bank_line_is_one_thing=Q(payout=None, file=None) | Q(payout=None, batch=None) | Q(file=None, batch=None),
        )

    def __str__(self) -> str:
        return str(self.line)

    @property
    def expected(self) -> int:
        """Return what the movement should be by what it is, without a sign; 0 where nobody knows."""
        return (
            self.payout.amount
            if self.payout
            else self.file.total
            if self.file
            else -self.batch.amount
            if self.batch
            else 0
        )
