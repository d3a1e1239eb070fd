"""Providers' reports that operators upload, and the progress of the worker that reads them."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString

from payments.admin.file_forms import FORM_BYTES, is_too_long, takes_file, with_file
from payments.admin.form_fields import DayField
from payments.admin.framework.base import ReadOnlyAdmin
from payments.admin.framework.formats import NOTHING, chip, column, lines, link, moment_column, provider_title
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import operator_of
from payments.admin.moments import moment_cell
from payments.concurrency.long_bodies import BodyLimits, Uploads
from payments.domain.reconciliation import uploads
from payments.domain.reconciliation.files import BadReport
from payments.domain.reconciliation.layouts import LAYOUTS
from payments.models import ReconciliationRun, ReportUpload
from payments.vault import VaultUnavailable

MAY_UPLOAD = "payments.add_reportupload"
UPLOADS = Uploads(BodyLimits(uploads.MAX_BYTES + FORM_BYTES, 120), most=3)
TOO_LARGE = f"The file is larger than {filesizeformat(uploads.MAX_BYTES)}: split it, or use manage.py reconcile."
MARKS = {"waiting": "warn", "reading": "warn", "done": "good", "refused": "bad"}


class ReportForm(forms.Form):
    """A report, its provider, and the days that it covers, if it does not say so itself."""

    provider = forms.ChoiceField(choices=[(name, name) for name in LAYOUTS])
    report = forms.FileField(
        label="Report (CSV in UTF-8)",
        help_text=f"At most {filesizeformat(uploads.MAX_BYTES)}.",
        widget=forms.FileInput(attrs={"accept": ".csv,text/csv"}),
    )
    since = DayField(required=False, label="Covers from (UTC)")
    until = DayField(
        required=False,
        label="Covers to (UTC)",
        help_text="Both days included. Empty: as the file says, or none where it covers no whole days.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["provider"]
        field.choices = [(name, provider_title(name)) for name in LAYOUTS]

    def clean_report(self) -> Any:
        report = self.cleaned_data["report"]
        if not report.name.lower().endswith(".csv"):
            raise forms.ValidationError("The file must be a CSV file: its name must end with .csv.")
        return report

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


@admin.register(ReportUpload)
class ReportUploadAdmin(ReadOnlyAdmin):
    # A report is of all merchants of a provider's account.
    merchant_lookup = None
    change_list_template = "admin/payments/statements/reportupload_list.html"
    change_form_template = "admin/payments/statements/reportupload.html"
    list_display = ("file", "progress", "provider", "operator", "shown_state", "created")
    file_columns = ("created", "file", "shown_state", "progress", "provider", "operator", "result")
    list_select_related = ("operator", "run")
    search_fields = ("file",)
    search_help_text = "A part of the file's name."
    fieldsets = (
        (None, {"fields": ("file", "provider", "shown_size", "period", "operator", "created")}),
        ("Reading", {"fields": ("shown_state", "progress", "fault", "result")}),
    )
    shown_state = column("State", lambda upload: chip(upload.state, MARKS.get(upload.state, "quiet")))
    shown_size = column("Size", lambda upload: filesizeformat(upload.size))
    progress = column("Rows read", lambda upload: f"{upload.rows_read:,} of {upload.rows:,}")
    period = column("Covers", lambda upload: lines([moment_cell(upload.covers_from), moment_cell(upload.covers_to)]))
    result = column("Result", lambda upload: _result(upload))
    created = moment_column("created_at")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(takes_file(self.upload, self.admin_site, MAY_UPLOAD, UPLOADS))
        return [path("upload/", view, name="payments_reportupload_upload"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("sealed_content")

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        return {"may_upload": self._may_upload(request)}

    def upload(self, request: HttpRequest) -> HttpResponse:
        if not self._may_upload(request):
            raise PermissionDenied
        if is_too_long(request, uploads.MAX_BYTES):
            return self._form(request, ReportForm(), TOO_LARGE, status=413)
        return with_file(request, self.admin_site, uploads.MAX_BYTES, self._read)

    def _read(self, request: HttpRequest) -> HttpResponse:
        form = ReportForm(request.POST or None, request.FILES or None)
        if not form.is_bound or not form.is_valid():
            return self._form(request, form, "")
        report, provider = form.cleaned_data["report"], form.cleaned_data["provider"]
        try:
            upload = uploads.submit(provider, report.name, report.read(), operator_of(request), *form.period())
        except BadReport as fault:
            form.add_error("report", f"The report cannot be read: {fault}.")
        except uploads.TooMany as refusal:
            form.add_error(None, str(refusal))
        except VaultUnavailable:
            form.add_error(None, "The vault does not answer, so nothing was stored. Try again in a moment.")
        else:
            messages.success(request, "Uploaded. A worker reads it; this page refreshes itself.")
            return redirect("admin:payments_reportupload_change", upload.pk)
        return self._form(request, form, "")

    def _form(self, request: HttpRequest, form: forms.Form, refusal: str, status: int = 200) -> HttpResponse:
        context = self.admin_site.each_context(request) | {
            "opts": self.opts,
            "media": self.media,
            "title": "Upload a provider's report",
            "form": form,
            "refusal": refusal,
        }
        return TemplateResponse(request, "admin/payments/statements/upload.html", context, status=status)

    def _may_upload(self, request: HttpRequest) -> bool:
        return operator_of(request).has_perm(MAY_UPLOAD) and limit_of(request) is None


def _result(upload: ReportUpload) -> SafeString | str:
    """Return a link to the run, or why there is none."""
    return link(ReconciliationRun, upload.run_id, upload.run) if upload.run_id else upload.fault or NOTHING
