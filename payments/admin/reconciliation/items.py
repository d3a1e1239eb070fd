"""Differences between providers' reports and the ledger, for operators to close with a note."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from payments.admin.framework.base import LookOnlyAdmin, by, by_mode_of
from payments.admin.framework.formats import NOTHING, chip, column, moment_column, money, row_link_column, utc
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import reason_field
from payments.admin.framework.row_actions import Done, RowAction, RowActions
from payments.admin.reconciliation.reports import ByProvider
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.reconciliation import items
from payments.models import Attempt, Posting, ReconciliationItem, ReconciliationRun, ReportLine

Item = ReconciliationItem


class NoteForm(forms.Form):
    note = reason_field("What it was and what was done about it, such as a ticket. No card numbers. It is kept.")


ByModeOfCharge = by_mode_of("charge", or_without=True)
ByCharge = by("charge", known=("Known", Q(charge__isnull=False)), unknown=("Not known", Q(charge=None)))


ByStanding = by(
    "difference", stands=("Stands", Q(vanished_at=None)), vanished=("Vanished", Q(vanished_at__isnull=False))
)


class DecideItem(RowAction):
    """Closes or reopens a difference with a note."""

    permission = "payments.close_reconciliationitem"
    form = NoteForm
    too_late = {items.TooLate: "Somebody else has just decided this."}

    def __init__(self, name: str, decide: Callable[[Item, User, str], None], done: Action, state: str) -> None:
        self.name, self.label, self.button = name, f"{name.capitalize()} with a note", name.capitalize()
        self.decide, self.done, self.state = decide, done, state

    def fits(self, item: Item) -> bool:
        return item.state == self.state

    def question(self, item: Item) -> str:
        return f"{self.button} this difference?"

    def facts(self, item: Item) -> Facts:
        yield "Difference", f"{item.get_kind_display()}, {item.provider}"
        yield "In the report", _in_report(item)
        yield "In the ledger", _in_ledger(item)
        yield "Reference", _reference(item)
        yield "Noted so far", item.note or NOTHING

    @transaction.atomic
    def do(self, item: Item, said: dict[str, Any]) -> Done:
        self.decide(item, said["operator"], said["note"])
        audit_log.record(self.done, item, fields=["state", "note"], reason=said["note"])
        return f"{self.done.capitalize()}."


def _in_report(item: Item) -> str:
    return _moved(item.line) if item.line else "nothing"


def _in_ledger(item: Item) -> str:
    if item.posting:
        return _moved(item.posting)
    return f"{item.attempt.kind}: {item.attempt.outcome or item.attempt.state}" if item.attempt else "nothing"


def _reference(item: Item) -> str:
    if item.line:
        return item.line.reference or item.line.provider_ref
    return item.attempt.reference if item.attempt else NOTHING


@admin.register(ReconciliationItem)
class ReconciliationItemAdmin(RowActions, LookOnlyAdmin):
    """Differences, closed and reopened with a note; nobody edits one."""

    row_actions = (
        DecideItem("close", items.close, Action.CLOSED, Item.State.OPEN),
        DecideItem("reopen", items.reopen, Action.REOPENED, Item.State.CLOSED),
    )
    key_converter = "int"
    merchant_lookup = "charge__merchant"
    list_display = ("shown_kind", "shown_state", "they_say", "we_say", "found", "vanished", "provider", "charge_link")
    list_filter = ("state", "kind", ByStanding, ByProvider, ByCharge, ByModeOfCharge, "created_at")
    list_select_related = ("line", "posting", "attempt", "charge")
    search_fields = ("note",)
    exact_lookups = ("line__reference", "line__provider_ref")
    uuid_lookups = {
        "attempt": ("attempt_id",),
        "ch": ("charge_id",),
        "re": ("attempt__refund_id",),
        "src": ("charge__source_id",),
        "mer": ("charge__merchant_id",),
    }
    object_lookups = ("charge_id", "attempt__refund_id")
    search_help_text = "Any ID, whole, our reference, the provider's, or text of a note."
    fieldsets = (
        (None, {"fields": ("shown_kind", "shown_state", "provider", "found", "run_link", "vanished")}),
        ("In the report", {"fields": ("they_say", "shown_reference", "provider_ref", "booked", "line_link")}),
        ("In the ledger", {"fields": ("we_say", "posted", "posting_link", "attempt_link", "charge_link")}),
        ("Decided", {"fields": ("note", "decided_by", "decided")}),
    )
    run_link = row_link_column("run", ReconciliationRun)
    line_link = row_link_column("line", ReportLine)
    posting_link = row_link_column("posting", Posting)
    attempt_link = row_link_column("attempt", Attempt)
    found = moment_column("created_at")
    vanished = moment_column("vanished_at")
    shown_kind = column("Difference", lambda item: item.get_kind_display())
    shown_state = column("State", lambda item: chip(item.state))
    they_say = column("In the report", _in_report)
    we_say = column("In the ledger", _in_ledger)
    shown_reference = column("Reference", _reference)
    booked = column("Booked there (UTC)", lambda item: utc(item.line.booked_at if item.line else None))
    posted = column("Posted here (UTC)", lambda item: utc(item.posting.created_at if item.posting else None))

    @admin.display(description="The provider's reference")
    def provider_ref(self, item: Item) -> str:
        side = item.line or item.attempt
        return (side and side.provider_ref) or NOTHING


def _moved(side: ReportLine | Posting) -> str:
    word = getattr(side, "word", "") if side.kind == ReportLine.Kind.OTHER else ""
    return f"{word or side.get_kind_display().lower()} of {money(abs(side.amount), side.currency)}"
