"""Trial balances: at the end of each day, and at any other moment."""

from datetime import UTC, date, datetime, time
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse

from payments import clock
from payments.admin.form_fields import DayField
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import column, money
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import operator_of
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.statements.csv_file import trial_lines
from payments.domain.statements.trial_balance import Book, trial_balance
from payments.ledger.account_days import DAY, midnight
from payments.models import LedgerDay
from payments.typed_text import read_day

MAY_DOWNLOAD = "payments.download_ledgerday"


class TimeInput(forms.TimeInput):
    input_type = "time"


class MomentForm(forms.Form):
    """The moment of a trial balance: the end of a day, or a time on it; now by default."""

    day = DayField(required=False, label="Day (UTC)")
    time = forms.TimeField(required=False, label="Time (UTC), or the day's end", widget=TimeInput)

    def moment(self) -> datetime:
        """Return the moment, which is never in the future."""
        now = clock.now()
        day: date | None = self.cleaned_data["day"]
        at: time | None = self.cleaned_data["time"]
        if not day:
            return now
        return min(datetime.combine(day, at, UTC) if at else midnight(day) + DAY, now)


@admin.register(LedgerDay)
class LedgerDayAdmin(BaseAdmin):
    """The days of the ledger; each page, and `at` for any moment, sums the merchants of the operator alone."""

    merchant_lookup = None
    views = {
        "payments_ledgerday_at": ("at/", "at"),
        "payments_ledgerday_download": ("at/trial-balance.csv", "download"),
    }
    change_list_template = "admin/payments/statements/ledgerday_list.html"
    list_display = ("day", "all_postings", "summed")
    list_per_page = 31
    all_postings = column("Postings", lambda day: f"{day.postings:,}")

    def get_queryset(self, request: HttpRequest) -> Any:
        # The days themselves are nobody's; how much all merchants moved is for those who work for all.
        return LedgerDay.objects.order_by("-pk")

    def get_list_display(self, request: HttpRequest) -> Any:
        return self.list_display if limit_of(request) is None else ("day", "summed")

    def may_export(self, request: HttpRequest) -> bool:
        """Return whether a file of the days is for them: it has what all merchants moved."""
        return limit_of(request) is None and super().may_export(request)

    def _is_for(self, request: HttpRequest) -> bool:
        return True

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        """Redirect to the trial balance at the end of the day."""
        try:
            day = read_day(object_id)
        except ValueError:
            raise Http404 from None
        row = get_object_or_404(self.get_queryset(request), pk=day)
        return self._shown(request, midnight(row.day) + DAY, MomentForm(initial={"day": row.day}), f"end of {row.day}")

    def at(self, request: HttpRequest) -> HttpResponse:
        """Show the trial balance at a moment, by default now."""
        form = MomentForm(request.GET or None)
        if form.is_bound and not form.is_valid():
            return self._shown(request, clock.now(), form, "now")
        moment = form.moment() if form.is_bound else clock.now()
        if form.is_bound and moment == clock.now():
            return redirect("admin:payments_ledgerday_at")
        return self._shown(request, moment, form, f"{moment:%d %b %Y %H:%M:%S} UTC")

    def download(self, request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
        """Return the trial balance as CSV, and record the download."""
        if not self._may_download(request):
            raise PermissionDenied
        try:
            moment = datetime.fromisoformat(request.GET["at"]) if "at" in request.GET else clock.now()
        except ValueError:
            raise Http404 from None
        if moment.tzinfo is None:
            raise Http404
        until, limit = min(moment.astimezone(UTC), clock.now()), limit_of(request)
        trial = trial_balance(until, limit)
        name = f"trial-balance-{moment:%Y%m%d-%H%M%S}.csv"
        audit_log.record(Action.EXPORTED, detail=name)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(b"".join(trial_lines(trial)), content_type="text/csv; charset=utf-8", headers=headers)

    def _may_download(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request) and operator_of(request).has_perm(MAY_DOWNLOAD)

    def _shown(self, request: HttpRequest, moment: datetime, form: forms.Form, when: str) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        trial = trial_balance(moment, limit_of(request))
        context = self.admin_site.each_context(request) | {
            "opts": self.opts,
            "media": self.media,
            "title": f"Trial balance, {when}",
            "form": form,
            "trial": trial,
            "books": [(book, _rows(book)) for book in trial.books],
            "is_limited": limit_of(request) is not None,
            "at": moment.isoformat() if self._may_download(request) else "",
        }
        return TemplateResponse(request, "admin/payments/statements/trial_balance.html", context)


def _rows(book: Book) -> list[tuple[str, str, str]]:
    """Return name, debit and credit of each account, and their sums."""

    def shown(amount: int) -> str:
        return money(amount, book.currency) if amount else ""

    rows = [(f"{line.words}{', memo' * line.is_memo}", shown(line.debit), shown(line.credit)) for line in book.lines]
    return [*rows, ("Total without memo accounts", money(book.debit, book.currency), money(book.credit, book.currency))]
