"""Bank files of payouts: made, downloaded, and approved as sent or cancelled by another operator."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import pluralize
from django.utils.safestring import SafeString

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import by
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    column,
    id_column,
    lines,
    link,
    moment_column,
    money,
    search_link,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.payouts.file_actions import CancelFile, Download, MakeFile, MarkPaid, MarkSent
from payments.ids import public_id
from payments.models import ApprovalRequest, Payout, PayoutFile
from payments.models.operators.approval_rules import PAYING_OUT

SHOWN_PAYOUTS = 100
OPEN, SENT, CANCELLED = PayoutFile.OPEN, Q(sent_at__isnull=False), Q(cancelled_at__isnull=False)
ByStatus = by("status", open=("Open", OPEN), sent=("Sent", SENT), cancelled=("Cancelled", CANCELLED))


@admin.register(PayoutFile)
class PayoutFileAdmin(BaseAdmin):
    # A file has payouts of all merchants.
    merchant_lookup = None
    row_actions = (MakeFile(), MarkSent(), MarkPaid(), Download(), CancelFile())
    list_display = ("pay_on", "created_by", "sent_by", "shown_count", "shown_total", "shown_status", "created")
    file_columns = (
        *("public_id", "created", "shown_total", "shown_count"),
        *("shown_status", "pay_on", "created_by", "sent_by"),
    )
    list_filter = (ByStatus, "created_at")
    sum_of = ("total", "currency")
    list_select_related = ("created_by",)
    search_fields = ("=currency",)
    search = IdSearch({"pf": "pk", "po": "payouts"})
    fieldsets = (
        (None, {"fields": ("public_id", "shown_status", "name", "shown_total", "shown_count", "pay_on", "debits")}),
        ("What it pays", {"fields": ("states", "payouts")}),
        ("By", {"fields": ("created_by", "sent_by", "cancelled_by", "requests")}),
        ("Times", {"fields": ("created", "downloaded", "sent", "cancelled")}),
    )
    public_id = id_column("pf")
    shown_count = column("Payouts", lambda file: f"{file.count:,}", is_number=True)
    name = column("File", lambda file: file.name)
    pay_on = column("Pay on", lambda file: f"{file.execute_on:%d %b %Y}")
    debits = column("Our account", lambda file: f"{file.debtor_name}, {file.debtor_bic}, ending in {file.debtor_last4}")
    shown_status = column("Status", lambda file: chip(*status_of(file)))
    sent_by = column("Sent by", lambda file: file.sender or NOTHING)
    requests = column("See", lambda file: search_link(ApprovalRequest, public_id("pf", file.pk), "its requests"))
    downloaded = moment_column("downloaded_at", "First downloaded")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request).defer("sealed_debtor_number")
        sent = ApprovalRequest.objects.filter(subject_id=OuterRef("pk"), kind__in=PAYING_OUT, state="done")
        return rows.annotate(sender=sent.values("decided_by__username")[:1])

    def headline(self, row: PayoutFile) -> str:
        accounts = f"{row.count:,} account{pluralize(row.count)}"
        return f"{money(row.total, row.currency)} to {accounts} on {row.execute_on:%d %b %Y}"

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        return {"mode_of_row": "live"}

    def mode_of(self, row: PayoutFile) -> str:
        return "live"

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
