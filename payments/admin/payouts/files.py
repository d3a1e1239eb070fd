"""Bank files of payouts: made, downloaded, and sent or cancelled by another operator."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from payments.admin.framework.base import ReadOnlyAdmin
from payments.admin.framework.filters import by
from payments.admin.framework.formats import (
    chip,
    column,
    id_column,
    lines,
    link,
    moment_column,
    money,
    money_column,
    search_link,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import ActionButton, Facts, form_page, operator_of
from payments.admin.framework.row_actions import SENT_BEFORE
from payments.admin.payouts.file_actions import CancelFile, MakeForm, MarkPaid, MarkSent
from payments.context import because
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import files
from payments.domain.payouts.bank_file import BadFile
from payments.domain.payouts.files import Waiting
from payments.ids import public_id
from payments.models import Payout, PayoutFile
from payments.vault import VaultUnavailable

MAY_MAKE = "payments.add_payoutfile"
MAY_DOWNLOAD = "payments.download_payoutfile"
TITLE = "Make a file"
SHOWN_PAYOUTS = 100
NO_ANSWER = "The vault does not answer, so nothing was done. Try again in a moment."
OPEN, SENT, CANCELLED = PayoutFile.OPEN, Q(sent_at__isnull=False), Q(cancelled_at__isnull=False)
ByStatus = by("status", open=("Open", OPEN), sent=("Sent", SENT), cancelled=("Cancelled", CANCELLED))


@admin.register(PayoutFile)
class PayoutFileAdmin(ReadOnlyAdmin):
    # A file has payouts of all merchants.
    merchant_lookup = None
    row_actions = (MarkSent(), MarkPaid(), CancelFile())
    views = {"payments_payoutfile_download": ("<uuid:pk>/download/", "download")}
    list_display = ("pay_on", "created_by", "sent_by", "shown_count", "shown_total", "shown_status", "created")
    file_columns = (
        *("public_id", "created", "shown_total", "shown_count"),
        *("shown_status", "pay_on", "created_by", "sent_by"),
    )
    list_filter = (ByStatus, "created_at")
    sum_of = ("total", "currency")
    list_select_related = ("created_by", "sent_by")
    search_fields = ("=currency",)
    search = IdSearch({"pf": "pk", "po": "payouts"})
    fieldsets = (
        (None, {"fields": ("public_id", "shown_status", "name", "shown_total", "shown_count", "pay_on", "debits")}),
        ("What it pays", {"fields": ("states", "payouts")}),
        ("By", {"fields": ("created_by", "sent_by", "cancelled_by")}),
        ("Times", {"fields": ("created", "downloaded", "sent", "cancelled")}),
    )
    public_id = id_column("pf")
    shown_count = column("Payouts", lambda file: f"{file.count:,}", is_number=True)
    name = column("File", lambda file: file.name)
    pay_on = column("Pay on", lambda file: f"{file.execute_on:%d %b %Y}")
    debits = column("Our account", lambda file: f"{file.debtor_name}, {file.debtor_bic}, ending in {file.debtor_last4}")
    shown_total = money_column("total")
    shown_status = column("Status", lambda file: chip(*status_of(file)))
    downloaded = moment_column("downloaded_at", "First downloaded")
    sent = moment_column("sent_at")
    cancelled = moment_column("cancelled_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("sealed_debtor_number")

    def headline(self, row: PayoutFile) -> str:
        accounts = f"{row.count:,} account{pluralize(row.count)}"
        return f"{money(row.total, row.currency)} to {accounts} on {row.execute_on:%d %b %Y}"

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        acts = [ActionButton(TITLE, reverse("admin:payments_payoutfile_add"))] if _may_make(request) else []
        return {"acts": acts, "mode_of_row": "live"}

    def mode_of(self, row: PayoutFile) -> str:
        return "live"

    def add_view(self, request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
        """Show what waits for a file, and make one."""
        if not _may_make(request):
            raise PermissionDenied
        waiting = files.waiting()
        form = MakeForm(request.POST or None, waiting)
        if form.is_valid():
            cleaned = form.cleaned_data
            try:
                with because(cleaned["reason"]):
                    operator = operator_of(request)
                    file = files.make(cleaned["row_id"], cleaned["currency"], cleaned["execute_on"], operator)
            except Refused as refusal:
                form.add_error(None, str(refusal))
            except VaultUnavailable:
                form.add_error(None, NO_ANSWER)
            except IntegrityError:
                self.message_user(request, SENT_BEFORE, messages.WARNING)
                return redirect("admin:payments_payoutfile_change", cleaned["row_id"])
            else:
                self.message_user(request, f"Made: {files.summary(file)}.", messages.SUCCESS)
                is_taken = request.POST.get("decision") == "download"
                return self.download(request, file.pk) if is_taken else redirect(self._page_of(file))
        ways = [("download", "Make and download")] if operator_of(request).has_perm(MAY_DOWNLOAD) else []
        buttons = [*ways, ("make", TITLE)] if waiting else []
        return form_page(request, self, TITLE, _facts_of(waiting), form, buttons, about=PayoutFile)

    @method_decorator(require_POST)
    def download(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Return the file; like every page of the admin it is not stored by browsers or proxies."""
        if not operator_of(request).has_perm(MAY_DOWNLOAD):
            raise PermissionDenied
        file = get_object_or_404(self.get_queryset(request), pk=pk)
        try:
            content = files.download(file)
        except (Refused, BadFile) as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
        except VaultUnavailable:
            self.message_user(request, NO_ANSWER, messages.ERROR)
        else:
            headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
            return HttpResponse(content, content_type="application/xml", headers=headers)
        return redirect("admin:payments_payoutfile_change", pk)

    def buttons_of(self, request: HttpRequest, file: PayoutFile) -> list[ActionButton]:
        acts = super().buttons_of(request, file)
        if file.cancelled_at or not operator_of(request).has_perm(MAY_DOWNLOAD):
            return acts
        address = reverse("admin:payments_payoutfile_download", args=[file.pk])
        further = [act for act in acts if act.label != CancelFile.label]
        return [*further, ActionButton("Download", address, posts=True), *(act for act in acts if act not in further)]

    @admin.display(description="By status")
    def states(self, file: PayoutFile) -> SafeString | str:
        counts = file.payouts.values_list("status").annotate(count=Count("id")).order_by("status")
        return lines(f"{Payout.Status(status).label}: {count}" for status, count in counts)

    @admin.display(description="Each")
    def payouts(self, file: PayoutFile) -> SafeString | str:
        found = file.payouts.select_related("account", "merchant").order_by("id")[:SHOWN_PAYOUTS]
        shown = [
            link(Payout, payout.pk, f"{money(payout.amount, payout.currency)} to {payout.account}, {payout.merchant}")
            for payout in found
        ]
        return lines([*shown, search_link(Payout, public_id("pf", file.pk), "all of them, as a list")] if shown else [])


def status_of(file: PayoutFile) -> tuple[str, str]:
    """Return the status of a file, and the mark of its chip."""
    if file.cancelled_at:
        return "cancelled", "quiet"
    return ("sent", "good") if file.sent_at else ("open", "warn")


def _may_make(request: HttpRequest) -> bool:
    return operator_of(request).has_perm(MAY_MAKE) and limit_of(request) is None


def _facts_of(waiting: list[Waiting]) -> Facts:
    yield "What happens", f"The oldest payouts of a currency go into the file, at most {PayoutFile.MOST:,}."
    for row in waiting:
        missing = "" if row.has_debtor else f". No account to debit in {row.currency}: set PAYOUT_DEBTOR_ACCOUNTS"
        yield row.currency, f"{row.count:,} approved, {money(row.total, row.currency)}{missing}"
    if not waiting:
        yield "Approved payouts", "None waits for a file."
    left_out = Payout.objects.left_out().select_related("account").order_by("id")[:SHOWN_PAYOUTS]
    if left_out:
        shown = [link(Payout, payout.pk, f"{payout} to {payout.account}: {payout.obstacle}") for payout in left_out]
        yield "Left out", lines(shown)
