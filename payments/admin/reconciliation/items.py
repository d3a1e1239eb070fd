"""Differences between providers' reports and the ledger, for operators to close with a note."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Case, CharField, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.timesince import timesince

from payments import clock
from payments.admin.cases.panel import CasePanel
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import by, by_mode_of
from payments.admin.framework.formats import NOTHING, chip, column, link, moment_column, money, row_link_column
from payments.admin.framework.id_search import OF_CHARGE, IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import reason_field
from payments.admin.reconciliation import bank
from payments.admin.reconciliation.reports import ByProvider, ByRun
from payments.admin.shown_times import moment_cell
from payments.admin.statements.list_sums import Sums, SumsOnTop
from payments.domain.reconciliation import items
from payments.models import Attempt, Posting, ReconciliationItem, ReconciliationRun, ReportLine
from payments.providers.settlement_reports import Movement

Item = ReconciliationItem
# The postings that a reported movement may be.
POSTED_AS = {
    Movement.CAPTURE: ("capture", "late"),
    Movement.VOID: ("void", "reversal"),
    Movement.REFUND: ("refund_settled", "reversal"),
    Movement.REFUND_RETURNED: ("refund_failed",),
    Movement.DISPUTE: ("dispute",),
    Movement.DISPUTE_WON: ("dispute_won",),
}


class NoteForm(forms.Form):
    note = reason_field("What it was and what was done about it, such as a ticket. No card numbers. It is kept.")


ByModeOfCharge = by_mode_of("charge", or_without=True)
ByCharge = by("charge", known=("Known", Q(charge__isnull=False)), unknown=("Not known", Q(charge=None)))


ByStanding = by(
    "difference", stands=("Stands", Q(vanished_at=None)), vanished=("Vanished", Q(vanished_at__isnull=False))
)


class DecideItem(Action):
    """Closes or reopens a difference with a note."""

    permission = bank.MAY_CLOSE
    form = NoteForm
    too_late = {items.TooLate: "Another operator has just decided this."}

    def __init__(self, name: str, decide: Callable[[Item, User, str], None], success: str, state: str) -> None:
        self.name, self.label, self.button = name, f"{name.capitalize()} with a note", name.capitalize()
        self.decide, self.success, self.state = decide, success, state

    def fits(self, item: Item) -> bool:
        return item.state == self.state

    def question(self, item: Item) -> str:
        return f"{self.button} this difference?"

    def facts(self, item: Item) -> Facts:
        yield "Difference", f"{label_of(item)}, {item.provider}"
        yield "In the report", in_report(item)
        yield "In the ledger", in_ledger(item)
        yield "Reference", reference_of(item)
        yield "Noted so far", item.note or NOTHING

    def do(self, item: Item, cleaned: dict[str, Any]) -> Done:
        self.decide(item, cleaned["operator"], cleaned["note"])
        return self.success


def in_report(item: Item) -> str:
    """Return what the report says moved."""
    return _moved(item.line) if item.line else "nothing"


def label_of(item: Any) -> str:
    """Return the difference as it is now, also before the worker has matched a posting that arrived."""
    return "In ledger, to be matched" if _arrived(item) else item.label


def _arrived(item: Any) -> Posting | None:
    """Return the posting that came after its item said that there is none."""
    found = getattr(item, "arrived", None)
    return Posting.objects.get(pk=found) if found and item.vanished_at is None else None


def in_ledger(item: Item) -> str:
    """Return what the ledger says moved, or how far the attempt is."""
    posting = item.posting or _arrived(item)
    if posting:
        return _moved(posting)
    if item.line and item.line.kind == ReportLine.Kind.BOOKED:
        return bank.what_it_is(item.line)
    return f"{item.attempt.kind}: {item.attempt.outcome or item.attempt.state}" if item.attempt else "nothing"


def reference_of(item: Item) -> str:
    """Return our reference, or the provider's where the report has no other."""
    if item.line:
        return item.line.reference or item.line.provider_ref
    return item.attempt.reference if item.attempt else NOTHING


def _sums(rows: QuerySet[Any]) -> Sums:
    """Return by currency what the reports and the ledger say, and the difference."""
    read = rows.exclude(kind=Item.Kind.UNREAD)
    named = read.annotate(sum_currency=Coalesce("line__currency", "posting__currency"))
    # The ledger has its side in the same currency, or the difference is one of currencies.
    ours = Case(When(posting__currency=F("sum_currency"), then=F("posting__amount")), default=Value(0))
    found = named.values("sum_currency").annotate(theirs=Coalesce(Sum("line__amount"), 0), ours=Sum(ours))
    for row in found.order_by("sum_currency"):
        currency, theirs, here = row["sum_currency"], int(row["theirs"]), int(row["ours"])
        amounts = (money(theirs, currency), money(here, currency), money(theirs - here, currency))
        yield currency, zip(("In reports", "In ledger", "Difference"), amounts, strict=True)


@admin.register(ReconciliationItem)
class ReconciliationItemAdmin(BaseAdmin):
    """Differences, closed and reopened with a note; nobody edits one."""

    row_actions = (
        bank.ConfirmSuspicion(),
        bank.MarkReturned(),
        DecideItem("close", items.close, "Closed.", Item.State.OPEN),
        DecideItem("reopen", items.reopen, "Reopened.", Item.State.CLOSED),
    )
    parts = (CasePanel(), SumsOnTop(_sums))
    change_list_template = SumsOnTop.template
    key_converter = "int"
    merchant_lookup = "charge__merchant"
    list_display = (
        *("shown_kind", "they_say", "we_say", "provider", "age"),
        *("difference", "shown_state"),
    )
    file_columns = (
        *("shown_kind", "shown_state", "they_say", "we_say", "difference", "age"),
        *("provider", "charge_link", "found"),
    )
    list_filter = ("state", "kind", ByStanding, ByProvider, ByCharge, ByModeOfCharge, ByRun, "created_at")
    list_select_related = (*bank.WITH_WHAT, "posting", "attempt", "charge")
    search_fields = ("note",)
    search = IdSearch(
        {**OF_CHARGE, "attempt": "attempt_id", "re": "attempt__refund_id", "mer": "charge__merchant_id"},
        objects="charge_id attempt__refund_id",
        exact="line__reference line__provider_ref",
    )
    search_help_text = "Any ID, whole, our reference, the provider's, or text of a note."
    fieldsets = (
        (None, {"fields": ("shown_kind", "shown_state", "provider", "found", "run_link", "vanished")}),
        ("In the report", {"fields": ("they_say", "shown_reference", "provider_ref", "booked", "number", "line_link")}),
        ("At our bank", {"fields": ("text",)}),
        ("In the ledger", {"fields": ("we_say", "posted", "posting_link", "attempt_link", "charge_link")}),
        ("Decided", {"fields": ("note", "decided_by", "decided")}),
    )
    run_link = row_link_column("run", ReconciliationRun)
    line_link = row_link_column("line", ReportLine)
    posting_link = column("Posting", lambda item: _posting_link(item))
    difference = column("Off by", lambda item: difference_of(item), is_number=True)
    age = column("Age", lambda item: timesince(item.created_at, clock.now()).split(",")[0])
    attempt_link = row_link_column("attempt", Attempt)
    found = moment_column("created_at")
    vanished = moment_column("vanished_at")
    shown_kind = column("Difference", lambda item: label_of(item))
    shown_state = column("State", lambda item: chip(item.state))
    they_say = column("In the report", in_report, in_list=lambda item: in_report(item).partition(" (")[0])
    we_say = column("In the ledger", in_ledger, in_list=lambda item: bank.named(item.line) or in_ledger(item))
    shown_reference = column("Reference", reference_of)
    number = column("Line of the report", lambda item: item.line.number if item.line else NOTHING)
    text = column("Text of the bank", lambda item: bank.text_of(item.line) or NOTHING)
    booked = column("Booked there", lambda item: bank.day_of(item.line) if item.line else NOTHING)
    posted = column("Posted here", lambda item: moment_cell(item.posting.created_at if item.posting else None))

    def headline(self, row: Item) -> str:
        return capfirst(f"{row}")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).annotate(arrived=_arrivals())

    @admin.display(description="The provider's reference")
    def provider_ref(self, item: Item) -> str:
        side = item.line or item.attempt
        return (side and side.provider_ref) or NOTHING


def _arrivals() -> Subquery:
    """Return the posting, not matched yet, that an item which is not in the ledger waits for."""
    movements = Q(pk=None)
    for kind, kinds in POSTED_AS.items():
        movements |= Q(wanted=kind, kind__in=kinds)
    outer = {"wanted": OuterRef("line__kind"), "missing": OuterRef("kind")}
    named = {name: ExpressionWrapper(value, CharField()) for name, value in outer.items()}
    postings: Any = Posting.objects.annotate(**named)
    rows = postings.filter(
        movements,
        missing=Item.Kind.MISSING_HERE,
        charge_id=OuterRef("charge_id"),
        attempt_id=OuterRef("attempt_id"),
        account=Posting.Account.PROVIDER_RECEIVABLE,
        report_line=None,
    )
    return Subquery(rows.order_by("pk").values("pk")[:1])


def _posting_link(item: Any) -> str:
    posting = item.posting or _arrived(item)
    return link(Posting, posting.pk, posting) if posting else NOTHING


def difference_of(item: Item) -> str:
    """Return how much more the report says than the ledger, in one currency."""
    posting = item.posting or _arrived(item)
    if item.line and posting and item.line.currency != posting.currency:
        return f"{money(item.line.amount, item.line.currency)}, {money(-posting.amount, posting.currency)}"
    side: Any = item.line or posting
    amount = (item.line.amount if item.line else 0) - (posting.amount if posting else 0)
    if item.kind == Item.Kind.AMOUNT_DIFFERS and side.kind == ReportLine.Kind.BOOKED:
        amount -= side.bank.expected * (1 if side.amount > 0 else -1)
    return money(amount, side.currency)


def _moved(side: ReportLine | Posting) -> str:
    if isinstance(side, ReportLine) and side.kind == ReportLine.Kind.UNREAD:
        return side.word
    if isinstance(side, ReportLine) and side.kind == ReportLine.Kind.BOOKED:
        return bank.moved(side)
    word = getattr(side, "word", "") if side.kind == ReportLine.Kind.OTHER else ""
    return f"{word or side.get_kind_display().lower()} of {money(abs(side.amount), side.currency)}"
