"""Reconciliation runs: what the report of a provider matched, and what needs somebody."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import NOTHING, chip, column, lines, link, moment_column, money, provider_title
from payments.admin.framework.object_actions import ActionButton
from payments.admin.reconciliation import bank
from payments.admin.reconciliation.items import difference_of, in_ledger, in_report, label_of, reference_of
from payments.admin.reconciliation.reports import ByProvider
from payments.admin.shown_times import moment_cell
from payments.admin.timeline.panels import Panel, Row
from payments.domain.reconciliation.summary import KINDS, Summed, parts_of
from payments.inbox.entries import about_charge
from payments.models import ReconciliationItem, ReconciliationRun, ReportLine

# The open differences that the page of a run names; their list has all.
NAMED_MAX = 20
WITH_SIDES = (*bank.WITH_WHAT, "posting", "attempt", "charge__source__card")
Item = ReconciliationItem


def _list_of(model: type[Model], run: ReconciliationRun, **filters: str) -> str:
    """Return the address of the list of the rows of `model` that a run made."""
    chosen = urlencode({"run": run.pk, **filters})
    return f"{reverse(f'admin:payments_{model._meta.model_name}_changelist')}?{chosen}"


def _open_items(run: ReconciliationRun) -> QuerySet[Any]:
    return Item.objects.filter(run=run, state=Item.State.OPEN, vanished_at=None)


def _part(run: ReconciliationRun, part: Summed) -> tuple[Summed, str, list[str]]:
    """Return a part of what a run found, the address of its rows, and its sums."""
    amounts = [money(amount, part.currency) for amount in (part.reported, part.posted, part.difference)]
    if part.name in KINDS:
        return part, _list_of(Item, run, kind__exact=part.name), amounts
    return part, _list_of(ReportLine, run, match="matched" if part.name == "matched" else "unmatched"), amounts


def _row(item: ReconciliationItem) -> Row:
    """Return an open difference: whose payment it is, what either side says, and by how much they differ."""
    name = (
        about_charge(item)
        or bank.named(item.line)
        or bank.text_of(item.line)
        or f"Reference …{reference_of(item)[-8:]}"
    )
    said = format_html("In the report: {}. In the ledger: {}", in_report(item), in_ledger(item))
    return Row(link(Item, item.pk, name), said, chip(label_of(item), "warn"), difference_of(item))


def _period(run: ReconciliationRun) -> SafeString | str:
    ends = (run.covers_from, run.covers_to)
    return NOTHING if ends[0] == ends[1] else lines(map(moment_cell, ends))


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
        (None, {"fields": ("made", "started_by", "provider", "file", "layout_link", "period")}),
        ("Report", {"fields": ("lines_read", "matched", "under_way")}),
        ("Differences", {"fields": ("shown_differences", "new_items", "open_items", "listed")}),
    )
    change_form_template = "admin/payments/statements/run.html"
    listed = column(
        "Its own",
        lambda run: lines(
            format_html('<a href="{}">{}</a>', _list_of(model, run), text)
            for model, text in ((ReportLine, "its new lines"), (Item, "its items"))
        ),
    )

    def beside_row(self, request: HttpRequest, row: ReconciliationRun) -> dict[str, Any]:
        """Return what the run found as it is now, with sums by currency."""
        items = _open_items(row).select_related(*WITH_SIDES).order_by("pk")
        rows = list(map(_row, items[:NAMED_MAX]))
        needs = [Panel("What needs somebody", rows, f"The first {NAMED_MAX}" if len(rows) == NAMED_MAX else "")]
        found = [_part(row, part) for part in parts_of(row)]
        return super().beside_row(request, row) | {"parts": found, "panels": needs if rows else ()}

    def buttons_of(self, request: HttpRequest, row: ReconciliationRun) -> list[ActionButton]:
        count = _open_items(row).count()
        label = "Work through 1 row" if count == 1 else f"Work through {count:,} rows"
        way = [ActionButton(label, _list_of(Item, row, state__exact=Item.State.OPEN, difference="stands"))]
        return [*(way if count else ()), *super().buttons_of(request, row)]

    def headline(self, row: ReconciliationRun) -> str:
        day = timezone.localtime(row.created_at)
        report = row.file or f"{capfirst(provider_title(row.provider))}'s report of {day.day} {day:%B}"
        return f"{report}: {row.matched:,} of {row.lines:,} lines match"

    made = moment_column("created_at")
    report = column("Report", lambda run: run.file or f"Report of {run.provider}")
    open_afterwards = column(
        "Open afterwards",
        lambda run: ", ".join(f"{count} {KINDS.get(kind, kind).lower()}" for kind, count in run.differences.items()),
    )
    period = column("Covers", _period)
    lines_read = column("Lines", lambda run: f"{run.lines}, {run.new_lines} new")
    shown_differences = column(
        "Open afterwards",
        lambda run: lines(f"{count} {KINDS.get(kind, kind).lower()}" for kind, count in run.differences.items()),
    )

    @admin.display(description="Open now")
    def open_items(self, run: ReconciliationRun) -> SafeString:
        address = reverse("admin:payments_reconciliationitem_changelist")
        return format_html('<a href="{}?state__exact=open&provider={}">the list</a>', address, run.provider)
