"""Payouts, and what operators do about them."""

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from payments.admin.contacts import People
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    column,
    events_column,
    lines,
    link,
    moment_column,
    money,
    search_link,
    short_id,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.payouts.accounts import named
from payments.admin.payouts.actions import ApprovePayout, ApproveTogether, CancelPayout, RecordPayout
from payments.admin.payouts.schedules import way_out
from payments.admin.reconciliation.bank import at_bank, of_payout
from payments.admin.shown_times import moment_text
from payments.domain.approvals import payouts
from payments.domain.transparency.proofs import with_leaves
from payments.ids import public_id
from payments.models import ApprovalRequest, BankLine, Payout, PayoutAccount, PayoutFile, Posting, Settlement

SHOWN_PARTS = 100
CHIPS: dict[str, str] = {
    Payout.Status.PENDING: "warn",
    Payout.Status.IN_TRANSIT: "warn",
    Payout.Status.PAID: "good",
    Payout.Status.FAILED: "bad",
}
ByStatus = by("status", **{status.value: (status.label, Q(status=status)) for status in Payout.Status})
ByApproval = by(
    "approval",
    waiting=("Waits for approval", Q(livemode=True, status=Payout.Status.PENDING, approved_at=None)),
    approved=("Approved", Q(approved_at__isnull=False)),
)


def _approval(payout: Payout) -> SafeString | str:
    if request := payout.approval:
        by = request.decided_by or request.proposed_by
        return link(ApprovalRequest, request.pk, f"by {by}, {moment_text(payout.approved_at)}")
    if not payout.waits_for_approval:
        return NOTHING
    request = payouts.requests_of(payout).select_related("proposed_by").first()
    text = f"waits for another operator, asked for by {request.proposed_by}" if request else ""
    return link(ApprovalRequest, request.pk, text) if request else "nobody has asked for it yet"


def _leaves(payout: Payout) -> str:
    found: Any = with_leaves(Payout.objects.filter(pk=payout.pk), payout.merchant_id, payout.livemode).get()
    return ", ".join(f"{number:,}" for number in found.leaves) or NOTHING


@admin.register(Payout)
class PayoutAdmin(BaseAdmin):
    row_actions = (ApprovePayout(), ApproveTogether(), CancelPayout(), RecordPayout())
    parts = (People(),)
    list_display = ("merchant", "account", "shown_amount", "shown_status", "created", "mode")
    file_columns = ("public_id", "created", "shown_amount", "shown_status", "account", "merchant", "mode")
    list_filter = (ByApproval, ByStatus, ByMode, "created_at")
    sum_of = ("amount", "currency")
    list_select_related = ("merchant", "account")
    search_fields = ("=currency",)
    search = IdSearch({"po": "pk", "mer": "merchant_id", "pf": "file_id"}, objects="pk")
    fieldsets = (
        (
            "Where it goes",
            {"fields": ("to_account", "goes_by", "in_file", "asked_for_by", "approval", "sent", "paid", "ended")},
        ),
        ("At our bank", {"fields": ("at_bank",)}),
        ("Why it failed", {"fields": ("failure_code", "why")}),
        ("What it pays", {"fields": ("shown_amount", "shown_reserve", "reserve_due", "made_of", "postings", "leaves")}),
        ("Times", {"fields": ("created", "updated", "public_id", "shown_status", "of_merchant", "mode", "version")}),
        ("Events", {"fields": ("events",)}),
        ("References", {"fields": ("provider_account", "provider_ref", "asked", "tries", "next_try")}),
    )
    shown_status = column(
        _("Status"), lambda payout: chip(payout.get_status_display(), CHIPS.get(payout.status, "quiet"))
    )
    to_account = column(
        _("Account"),
        lambda payout: link(PayoutAccount, payout.account_id, named(payout.account)),
        in_list=lambda payout: named(payout.account),
    )
    goes_by = column("By", lambda payout: f"no bank file: {payout.obstacle}" if payout.obstacle else way_out(payout))
    asked_for_by = column("Asked for by", lambda payout: payout.requested_by or "its schedule")
    approval = column("Approved", _approval)
    reserve_due = moment_column("reserve_due_at", _("Reserve released"))
    ended = moment_column("ended_at", _("Failed or cancelled"))
    at_bank = column("By our bank", lambda payout: at_bank(BankLine.objects.filter(of_payout(payout))))
    events = events_column(_("Of the payout"))
    in_file = column(
        "Bank file",
        lambda payout: link(PayoutFile, payout.file_id, public_id("pf", payout.file_id)) if payout.file_id else NOTHING,
    )
    next_try = moment_column("due_at", "Sent or looked up next")
    leaves = column(_("Entries in the transparency log"), _leaves)
    postings = column("See", lambda payout: search_link(Posting, str(payout), "its postings"))

    def headline(self, row: Payout) -> str:
        return f"{money(row.amount, row.currency)} to {row.merchant}"

    @admin.display(description="Made of")
    def made_of(self, payout: Payout) -> SafeString | str:
        found = payout.parts.order_by("id")
        shown = [
            format_html(
                "{} {}",
                link(Settlement if part.is_settlement else Posting, part.id, short_id(str(part))),
                money(part.amount, part.currency),
            )
            for part in found[:SHOWN_PARTS]
        ]
        return lines([*shown, f"{found.count()} in all"])
