"""Reconciliation: providers' reports of the money they moved, matched with our ledger, and the differences."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments import clock
from payments.db.checks import checks
from payments.models.books.ledger import Posting
from payments.models.charging.attempt import Attempt
from payments.models.charging.charge import Charge
from payments.models.operators.approval_request import ApprovalRequest
from payments.models.operators.reasons import NOTE_MAX_LENGTH, SOMETHING_WRITTEN, free_of_secrets

PROVIDER_LENGTH = 40


class FileLayout(models.Model):
    """A version of how files of a provider or of a bank account of ours are read, where no format is known.

    The newest is in force; no row is ever changed or deleted.
    """

    # The approval that made it, whose ID it has. No constraint: it stays, and is beside rows of merchants.
    request = models.OneToOneField(
        ApprovalRequest, models.PROTECT, primary_key=True, related_name="layout", db_constraint=False
    )
    provider = models.CharField(max_length=PROVIDER_LENGTH)
    version = models.PositiveIntegerField()
    settings = models.JSONField()
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        verbose_name = "layout"
        default_permissions = ("view", "add")
        constraints = [models.UniqueConstraint(F("provider"), F("version"), name="file_layout_version_once")]

    def __str__(self) -> str:
        return f"{self.provider}, version {self.version}"


class ReconciliationRun(models.Model):
    """One report of a provider or of our bank, imported and matched in one transaction.

    `provider` is the name of the bank account, where it is of one; so it is of its lines and items.
    """

    class Origin(models.TextChoices):
        COMMAND = "command"
        WORKER = "worker"
        UPLOAD = "upload"

    provider = models.CharField(max_length=PROVIDER_LENGTH)
    started_by = models.CharField(max_length=7, choices=Origin.choices)
    # Empty if the provider's connector fetched the report.
    file = models.CharField(max_length=255, blank=True, default="")
    # What read the file, if no fixed format did.
    layout = models.ForeignKey(FileLayout, models.PROTECT, null=True, blank=True, related_name="runs", db_index=False)
    # The time that the report covers completely: a posting in it without a line is not in the report. None if it covers
    # no time.
    covers_from = models.DateTimeField(null=True, blank=True)
    covers_to = models.DateTimeField()
    lines = models.PositiveIntegerField(default=0)
    # Lines that no earlier report had.
    new_lines = models.PositiveIntegerField(default=0)
    matched = models.PositiveIntegerField(default=0)
    # Lines whose attempt has no outcome yet, or whose webhook may still arrive.
    under_way = models.PositiveIntegerField(default=0)
    new_items = models.PositiveIntegerField(default=0)
    # The provider's open differences after the run, by kind.
    differences = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ("view",)
        constraints = checks(
            reconciliation_covers_no_time_backwards=Q(covers_from__isnull=True) | Q(covers_from__lte=F("covers_to")),
        )
        indexes = [models.Index(F("provider"), F("covers_to"), name="reconciliation_of_provider")]

    def __str__(self) -> str:
        return f"{self.provider} {self.covers_to:%Y-%m-%d}"


class ReportLine(models.Model):
    """One movement of money in reports of a provider or our bank; a movement in several reports is one row."""

    class Kind(models.TextChoices):
        CAPTURE = "capture"
        VOID = "void"
        REFUND = "refund"
        REFUND_RETURNED = "refund_returned", "Refund returned"
        DISPUTE = "dispute", "Chargeback"
        DISPUTE_WON = "dispute_won", "Chargeback that came back"
        PAYOUT = "payout", "Paid to our bank"
        BOOKED = "booked", "Bank booking"
        OTHER = "other", "Something else"
        UNREAD = "unread", "Cannot be read"

    run = models.ForeignKey(ReconciliationRun, models.PROTECT, related_name="line_list")
    # Its line in that run's file, or its position in a report without a file.
    number = models.PositiveIntegerField()
    provider = models.CharField(max_length=PROVIDER_LENGTH)
    # Our reference as the provider returned it, and the provider's own.
    reference = models.CharField(max_length=255, blank=True)
    provider_ref = models.CharField(max_length=255, blank=True)
    kind = models.CharField(max_length=15, choices=Kind.choices)
    # The provider's own word for the movement, if it says more; or why it cannot be read.
    word = models.CharField(max_length=300, blank=True, default="")
    # Signed like `provider_receivable`: money that the provider took for us is positive.
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    # None only for what cannot be read.
    booked_at = models.DateTimeField(null=True, blank=True)
    # Among lines of one report that are equal.
    nth = models.PositiveIntegerField(default=1)
    # No constraints: attempts and postings are never deleted, and the checks would lock busy rows.
    attempt = models.ForeignKey(
        Attempt, models.PROTECT, null=True, blank=True, related_name="+", db_constraint=False, db_index=False
    )
    # The matching posting; empty for a refund that came back before its webhook.
    posting = models.OneToOneField(
        Posting, models.PROTECT, null=True, blank=True, related_name="report_line", db_constraint=False
    )
    matched_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                F("reference"),
                F("provider_ref"),
                F("provider"),
                F("kind"),
                F("word"),
                F("amount"),
                F("currency"),
                F("booked_at"),
                F("nth"),
                name="report_line_once",
                nulls_distinct=False,
            ),
            *checks(
                report_line_sign_matches_kind=Q(kind__in=["capture", "refund_returned", "dispute_won"], amount__gt=0)
                | Q(kind__in=["void", "refund", "dispute"], amount__lt=0)
                | Q(kind="payout", amount__lt=0)
                | Q(kind__in=["other", "booked"]) & ~Q(amount=0)
                | Q(kind="unread", amount=0, matched_at__isnull=True),
                report_line_was_booked=Q(booked_at__isnull=False) | Q(kind="unread"),
                report_line_with_posting_is_matched=Q(posting__isnull=True) | Q(matched_at__isnull=False),
            ),
        ]
        indexes = [
            models.Index(F("provider_ref"), name="report_line_by_provider_ref"),
            models.Index(
                F("provider"), F("attempt"), name="report_line_unmatched", condition=Q(matched_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.reference or self.provider_ref}"


class ReconciliationItem(models.Model):
    """A difference between reports of a provider or our bank and our ledger; it stays until an operator closes it.

    `line` is the provider's side, `posting` is ours.
    """

    class Kind(models.TextChoices):
        MISSING_HERE = "missing_here", "Not in ledger"
        MISSING_THERE = "missing_there", "Not in report"
        AMOUNT_DIFFERS = "amount_differs", "Amount differs"
        CURRENCY_DIFFERS = "currency_differs", "Currency differs"
        KIND_DIFFERS = "kind_differs", "Kind differs"  # the provider did another operation than we asked for
        REPORTED_TWICE = "reported_twice", "Reported twice"  # our one posting is matched with another line
        UNREAD = "unread", "Cannot be read"
        # Of a bank's statement alone.
        SUSPECTED = "suspected", "Perhaps ours"
        RETURNED = "returned", "Returned payout"

    class State(models.TextChoices):
        OPEN = "open"
        CLOSED = "closed"

    run = models.ForeignKey(ReconciliationRun, models.PROTECT, related_name="items", db_index=False)
    provider = models.CharField(max_length=PROVIDER_LENGTH)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    line = models.ForeignKey(ReportLine, models.PROTECT, null=True, blank=True, related_name="items", db_index=False)
    # No constraint: its check would lock the posting, which the application may not do.
    posting = models.ForeignKey(
        Posting, models.PROTECT, null=True, blank=True, related_name="+", db_constraint=False, db_index=False
    )
    attempt = models.ForeignKey(Attempt, models.PROTECT, null=True, blank=True, related_name="+")
    charge = models.ForeignKey(Charge, models.PROTECT, null=True, blank=True, related_name="+")
    # Since when later runs do not find the difference any more.
    vanished_at = models.DateTimeField(null=True, blank=True)
    # When it was last looked at again because money had moved since.
    rechecked_at = models.DateTimeField(null=True, blank=True, editable=False)
    state = models.CharField(max_length=6, choices=State.choices, default=State.OPEN)
    note = models.CharField(max_length=NOTE_MAX_LENGTH, blank=True, default="", validators=[free_of_secrets])
    # Who closed or reopened it last, and when.
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ("view",)
        permissions = [("close_reconciliationitem", "Can close and reopen reconciliation items")]
        indexes = [
            models.Index(
                F("charge"), name="item_not_in_ledger", condition=Q(kind="missing_here", vanished_at__isnull=True)
            )
        ]
        constraints = [
            models.UniqueConstraint(F("line"), F("kind"), name="one_item_per_line_and_kind"),
            models.UniqueConstraint(F("posting"), name="one_item_per_missing_line", condition=Q(line__isnull=True)),
            *checks(
                reconciliation_item_has_a_side=Q(kind="missing_there", line__isnull=True, posting__isnull=False)
                | Q(line__isnull=False) & ~Q(kind="missing_there"),
                reconciliation_item_closed_by_operator=Q(state="open")
                | Q(
                    state="closed",
                    note__regex=SOMETHING_WRITTEN,
                    decided_by__isnull=False,
                    decided_at__isnull=False,
                ),
            ),
        ]
        indexes = [models.Index(F("id"), name="reconciliation_item_open", condition=Q(state="open"))]

    def __str__(self) -> str:
        return f"{self.label.lower()} at {self.provider}"

    @property
    def label(self) -> str:
        """Return the difference in words, as it is now: what vanished is not said to be missing."""
        if self.vanished_at is None:
            return self.get_kind_display()
        if self.line and hasattr(self.line, "bank"):
            return "Matched since" if self.line.matched_at else "Another difference since"
        if self.kind == self.Kind.MISSING_HERE:
            return "In ledger since" if self.posting_id else "Another difference since"
        return "In report since" if self.kind == self.Kind.MISSING_THERE else f"{self.get_kind_display()} no more"
