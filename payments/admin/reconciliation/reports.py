"""Providers' reports and the reconciliation runs that matched them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from payments.admin.form_fields import WholeNumberField
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import by, one_of
from payments.admin.framework.form_filters import FormFilter
from payments.admin.framework.formats import (
    chip,
    column,
    lines,
    link,
    moment_column,
    money,
    money_column,
    row_link_column,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.moments import moment_cell
from payments.domain.reconciliation.summary import KINDS, parts_of
from payments.models import Attempt, Posting, ReconciliationItem, ReconciliationRun, ReportLine
from payments.providers.registry import CONNECTORS, PROVIDERS


class RunForm(forms.Form):
    run = WholeNumberField(required=False, min_value=1, max_value=2**63 - 1, label="Number of a run")


ByProvider = one_of("provider", [*PROVIDERS, *CONNECTORS])


def _list(model: type[Model], run: ReconciliationRun, text: str) -> SafeString:
    """Return a link to the rows of `model` that a run made."""
    address = reverse(f"admin:payments_{model._meta.model_name}_changelist")
    return format_html('<a href="{}?run={}">{}</a>', address, run.pk, text)


class ByRun(FormFilter):
    """A filter by the number of a run, as its page links to it."""

    title = "run"
    parameter_name = "run"
    form_class = RunForm

    def condition(self) -> Q:
        return Q(run=self.used_parameters["run"])

    def words(self) -> str:
        return str(self.used_parameters.get("run", "any"))


ByMatch = by("match", matched=("Matched", Q(matched_at__isnull=False)), unmatched=("Not matched", Q(matched_at=None)))


@admin.register(ReconciliationRun)
class ReconciliationRunAdmin(BaseAdmin):
    merchant_lookup = None
    list_display = ("report", "open_afterwards", "lines_read", "matched", "under_way", "started_by", "made")
    file_columns = (
        *("made", "shown_differences", "lines_read", "matched", "under_way"),
        *("period", "started_by", "provider", "file"),
    )
    list_filter = ("started_by", ByProvider, "created_at")
    search_fields = ("file",)
    search_help_text = "A part of the file's name."
    fieldsets = (
        (None, {"fields": ("made", "started_by", "provider", "file", "period")}),
        ("Report", {"fields": ("lines_read", "matched", "under_way")}),
        ("Differences", {"fields": ("shown_differences", "new_items", "open_items", "listed")}),
    )
    change_form_template = "admin/payments/statements/run.html"
    listed = column(
        "Its own",
        lambda run: lines([_list(ReportLine, run, "its new lines"), _list(ReconciliationItem, run, "its items")]),
    )

    def beside_row(self, request: HttpRequest, row: ReconciliationRun) -> dict[str, Any]:
        """Return what the run found as it is now, with sums by currency."""
        parts = [
            (part, [money(amount, part.currency) for amount in (part.reported, part.posted, part.difference)])
            for part in parts_of(row)
        ]
        return super().beside_row(request, row) | {"parts": parts}

    made = moment_column("created_at")
    report = column("Report", lambda run: run.file or f"Report of {run.provider}")
    open_afterwards = column(
        "Open afterwards",
        lambda run: ", ".join(f"{count} {KINDS.get(kind, kind).lower()}" for kind, count in run.differences.items()),
    )
    period = column("Covers", lambda run: lines([moment_cell(run.covers_from), moment_cell(run.covers_to)]))
    lines_read = column("Lines", lambda run: f"{run.lines}, {run.new_lines} new")
    shown_differences = column(
        "Open afterwards",
        lambda run: lines(f"{count} {KINDS.get(kind, kind).lower()}" for kind, count in run.differences.items()),
    )

    @admin.display(description="Open now")
    def open_items(self, run: ReconciliationRun) -> SafeString:
        address = reverse("admin:payments_reconciliationitem_changelist")
        return format_html('<a href="{}?state__exact=open&provider={}">the list</a>', address, run.provider)


@admin.register(ReportLine)
class ReportLineAdmin(BaseAdmin):
    merchant_lookup = "attempt__charge__merchant"
    list_display = ("shown_kind", "reference", "provider_ref", "provider", "shown_amount", "match", "booked")
    file_columns = ("booked", "kind", "shown_amount", "matched", "provider", "reference", "provider_ref")
    list_filter = (ByMatch, "kind", ByProvider, ByRun, "booked_at")
    search_fields = ("reference", "provider_ref")
    search = IdSearch({"attempt": "attempt_id"}, exact="reference provider_ref")
    search_help_text = "Our reference or the provider's, whole."
    fieldsets = (
        (None, {"fields": ("run_link", "number", "provider", "kind", "word", "shown_amount", "booked")}),
        ("Operation", {"fields": ("reference", "provider_ref", "attempt_link")}),
        ("Match", {"fields": ("matched", "posting_link", "differences")}),
    )
    booked = moment_column("booked_at")
    matched = moment_column("matched_at")
    shown_amount = money_column("amount")
    shown_kind = column("Kind", lambda line: line.get_kind_display())
    match = column("State", lambda line: chip("matched", "good") if line.matched_at else chip("not matched", "warn"))
    run_link = row_link_column("run", ReconciliationRun)
    posting_link = row_link_column("posting", Posting)
    attempt_link = row_link_column("attempt", Attempt)
    differences = column(
        "Differences", lambda line: lines(link(ReconciliationItem, item.pk, item) for item in line.items.order_by("pk"))
    )
