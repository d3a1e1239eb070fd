"""Providers' reports that operators upload, and the progress of the worker that reads them."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString

from payments.admin.form_fields import DayField
from payments.admin.framework.actions import Action, Done, Result, page_of
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import NOTHING, chip, column, lines, link, moment_column
from payments.admin.framework.object_actions import ActionButton
from payments.admin.reconciliation.layouts import account_choices
from payments.admin.shown_times import moment_cell
from payments.domain.reconciliation import uploads
from payments.domain.reconciliation.files import BadReport
from payments.models import ReconciliationRun, ReportUpload
from payments.vault import VaultUnavailable

MARKS = {"waiting": "warn", "reading": "warn", "done": "good", "refused": "bad"}


class ReportForm(forms.Form):
    """A report, its provider or bank account, and the days that it covers, if it does not say so itself."""

    provider = forms.ChoiceField(label="Provider or bank account", choices=account_choices)
    report = forms.FileField(
        label="Report (CSV), statement (camt.053, .052, .054 or MT940), or CSV or Xlsx that a layout reads",
        help_text=f"At most {filesizeformat(uploads.MAX_BYTES)}.",
    )
    since = DayField(required=False, label="Covers from (UTC)")
    until = DayField(
        required=False,
        label="Covers to (UTC)",
        help_text="Both days included. Empty: as the file says, or none where it covers no whole days.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        since, until = cleaned.get("since"), cleaned.get("until")
        if bool(since) != bool(until):
            self.add_error("until", "Name both days, or none.")
        elif since and until and since > until:
            self.add_error("until", "It must not be before the first day.")
        return cleaned

    def period(self) -> tuple[datetime | None, datetime | None]:
        """Return the beginning and the end of the days."""
        since, until = self.cleaned_data["since"], self.cleaned_data["until"]
        if not (since and until):
            return None, None
        return datetime.combine(since, time(), UTC), datetime.combine(until + timedelta(days=1), time(), UTC)


class Upload(Action):
    """Of a report, which a worker reads."""

    name, label, button = "upload", "Upload a report or statement", "Upload"
    permission = "payments.add_reportupload"
    is_new = is_for_all_merchants = True
    new_name = "upload"
    form = ReportForm
    file_bytes, file_seconds, most_files = uploads.MAX_BYTES, 120, 3
    too_large = "The file is larger than {size}: split it, or use manage.py reconcile."
    refusals = (BadReport, uploads.TooMany, VaultUnavailable)
    refused_as = {
        BadReport: "The report cannot be read: {fault}.",
        VaultUnavailable: "The vault does not answer, so nothing was stored. Try again in a moment.",
    }
    what_happens = (
        "A worker reads the file and matches it with the ledger as `manage.py reconcile` does. Nothing is corrected: "
        "each difference, and each row that cannot be read, becomes an item. The file is sealed until it is read, and "
        "then destroyed."
    )

    def field_of(self, refusal: Exception, form: forms.Form) -> str | None:
        return "report" if isinstance(refusal, BadReport) else None

    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        report, days = cleaned["report"], cleaned["form"].period()
        made = uploads.submit(cleaned["provider"], report.name, report.read(), cleaned["operator"], *days)
        return Result("Uploaded. A worker reads it; this page refreshes itself.", made)


@admin.register(ReportUpload)
class ReportUploadAdmin(BaseAdmin):
    # A report is of all merchants of a provider's account.
    merchant_lookup = None
    change_form_template = "admin/payments/statements/reportupload.html"
    row_actions = (Upload(),)
    list_display = ("file", "progress", "provider", "operator", "shown_state", "created")
    file_columns = ("created", "file", "shown_state", "progress", "provider", "operator", "result")
    list_select_related = ("operator", "run")
    search_fields = ("file",)
    search_help_text = "A part of the file's name."
    fieldsets = (
        (None, {"fields": ("file", "provider", "layout_link", "shown_size", "period", "operator", "created")}),
        ("Reading", {"fields": ("shown_state", "progress", "fault", "result")}),
    )
    shown_state = column("State", lambda upload: chip(upload.state, MARKS.get(upload.state, "quiet")))
    shown_size = column("Size", lambda upload: filesizeformat(upload.size))
    # How many a spreadsheet has is not known before it is read.
    progress = column("Rows read", lambda row: f"{row.rows_read:,}{f' of {row.rows:,}' if row.rows else ''}")
    period = column("Covers", lambda upload: lines([moment_cell(upload.covers_from), moment_cell(upload.covers_to)]))
    result = column("Result", lambda upload: _result(upload))
    created = moment_column("created_at")

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("sealed_content")

    def buttons_of(self, request: HttpRequest, row: ReportUpload) -> list[ActionButton]:
        found = [ActionButton("See what it found", page_of(row.run))] if row.run else []
        return [*found, *super().buttons_of(request, row)]


def _result(upload: ReportUpload) -> SafeString | str:
    """Return a link to the run, or why there is none."""
    return link(ReconciliationRun, upload.run_id, upload.run) if upload.run_id else upload.fault or NOTHING
