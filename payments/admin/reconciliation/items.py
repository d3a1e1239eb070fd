"""Differences between providers' reports and the ledger, for operators to close with a note."""

from collections.abc import Callable

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse

from payments.admin.framework.base import LookOnlyAdmin, by, by_mode_of
from payments.admin.framework.formats import NOTHING, chip, column, moment_column, money, row_link_column, utc
from payments.admin.framework.object_actions import ActionButton, Facts, form_page, operator_of
from payments.admin.framework.reason_form import reason_field
from payments.admin.reconciliation.reports import ByProvider
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.reconciliation import items
from payments.models import Attempt, Posting, ReconciliationItem, ReconciliationRun, ReportLine

Item = ReconciliationItem
MAY_CLOSE = "payments.close_reconciliationitem"
DECIDE: dict[str, Callable[[Item, User, str], None]] = {"close": items.close, "reopen": items.reopen}
DONE = {"close": Action.CLOSED, "reopen": Action.REOPENED}


class NoteForm(forms.Form):
    note = reason_field("What it was and what was done about it, such as a ticket. No card numbers. It is kept.")


ByModeOfCharge = by("mode", **by_mode_of("charge").conditions, unknown=("No charge known", Q(charge=None)))


ByStanding = by(
    "difference", stands=("Stands", Q(vanished_at=None)), vanished=("Vanished", Q(vanished_at__isnull=False))
)


@admin.register(ReconciliationItem)
class ReconciliationItemAdmin(LookOnlyAdmin):
    """Differences, closed and reopened with a note; nobody edits one."""

    merchant_lookup = "charge__merchant"
    list_display = ("shown_kind", "shown_state", "they_say", "we_say", "found", "vanished", "provider", "charge_link")
    list_filter = ("state", "kind", ByStanding, ByProvider, ByModeOfCharge, "created_at")
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
    they_say = column("In the report", lambda item: _moved(item.line) if item.line else "nothing")
    booked = column("Booked there (UTC)", lambda item: utc(item.line.booked_at if item.line else None))
    posted = column("Posted here (UTC)", lambda item: utc(item.posting.created_at if item.posting else None))

    def get_urls(self) -> list[URLPattern]:
        act = self.admin_site.admin_view(self.act)
        ours = [path(f"<int:pk>/{verb}/", act, {"verb": verb}, name=_name(verb)) for verb in DECIDE]
        return [*ours, *super().get_urls()]

    def buttons_of(self, request: HttpRequest, row: Item) -> list[ActionButton]:
        if not operator_of(request).has_perm(MAY_CLOSE):
            return []
        verb = "close" if row.state == Item.State.OPEN else "reopen"
        return [ActionButton(f"{verb.capitalize()} with a note", reverse(f"admin:{_name(verb)}", args=[row.pk]))]

    def act(self, request: HttpRequest, pk: int, verb: str) -> HttpResponse:
        """Ask for a note, and close or reopen the item with it."""
        if not operator_of(request).has_perm(MAY_CLOSE):
            raise PermissionDenied
        item = get_object_or_404(self.get_queryset(request).select_related(*self.list_select_related), pk=pk)
        form = NoteForm(request.POST or None)
        if form.is_valid():
            self._decide(request, item, verb, form.cleaned_data["note"])
            return redirect("admin:payments_reconciliationitem_change", pk)
        title = f"{verb.capitalize()} this difference?"
        return form_page(request, self, title, self._facts(item), form, [(verb, verb.capitalize())])

    def _decide(self, request: HttpRequest, item: Item, verb: str, note: str) -> None:
        try:
            with transaction.atomic():
                DECIDE[verb](item, operator_of(request), note)
                audit_log.record(DONE[verb], item, fields=["state", "note"], reason=note)
        except items.TooLate:
            self.message_user(request, "Somebody else has just decided this.", messages.WARNING)
        else:
            self.message_user(request, f"{DONE[verb].capitalize()}.", messages.SUCCESS)

    def _facts(self, item: Item) -> Facts:
        yield "Difference", f"{self.shown_kind(item)}, {item.provider}"
        yield "In the report", self.they_say(item)
        yield "In the ledger", self.we_say(item)
        yield "Reference", self.shown_reference(item)
        yield "Noted so far", item.note or NOTHING

    @admin.display(description="In the ledger")
    def we_say(self, item: Item) -> str:
        if item.posting:
            return _moved(item.posting)
        return f"{item.attempt.kind}: {item.attempt.outcome or item.attempt.state}" if item.attempt else "nothing"

    @admin.display(description="Reference")
    def shown_reference(self, item: Item) -> str:
        if item.line:
            return item.line.reference or item.line.provider_ref
        return item.attempt.reference if item.attempt else NOTHING

    @admin.display(description="The provider's reference")
    def provider_ref(self, item: Item) -> str:
        side = item.line or item.attempt
        return (side and side.provider_ref) or NOTHING


def _moved(side: ReportLine | Posting) -> str:
    word = getattr(side, "word", "") if side.kind == ReportLine.Kind.OTHER else ""
    return f"{word or side.get_kind_display().lower()} of {money(abs(side.amount), side.currency)}"


def _name(verb: str) -> str:
    return f"payments_reconciliationitem_{verb}"
