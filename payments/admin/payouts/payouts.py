"""Payouts, and what operators do about them."""

from django.contrib import admin
from django.db.models import Q
from django.utils.safestring import SafeString

from payments.admin.framework.base import ByMode, ReadOnlyAdmin, by
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    column,
    id_column,
    lines,
    link,
    money,
    money_column,
    search_link,
)
from payments.admin.framework.row_actions import RowActions
from payments.admin.moments import moment_cell, moment_text
from payments.admin.payouts.actions import ApprovePayout, CancelPayout, RecordPayout
from payments.admin.payouts.bulk_approval import BulkApproval
from payments.domain.payouts.approve import waits_for_approval
from payments.ids import public_id
from payments.models import Event, Payout, PayoutAccount, PayoutFile, Posting, ProviderAccount, Settlement

SHOWN_EVENTS = 100
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


def _approval(payout: Payout) -> str:
    if payout.approved_at:
        return f"by {payout.approved_by}, {moment_text(payout.approved_at)}"
    if not waits_for_approval(payout):
        return NOTHING
    asked = f", asked for by {payout.requested_by}" if payout.requested_by else ""
    return f"waits for another operator{asked}"


def _way_out(payout: Payout) -> SafeString | str:
    if not payout.livemode:
        return "the simulated bank"
    account = payout.provider_account
    if account:
        return link(ProviderAccount, account.id, account)
    return f"no bank file: {payout.obstacle}" if payout.obstacle else "a bank file"


@admin.register(Payout)
class PayoutAdmin(BulkApproval, RowActions, ReadOnlyAdmin):
    row_actions = (ApprovePayout(), CancelPayout(), RecordPayout())
    merchant_lookup = "merchant"
    list_display = ("public_id", "created", "shown_amount", "shown_status", "account", "merchant", "mode")
    list_filter = (ByApproval, ByStatus, ByMode, "created_at")
    sum_of = ("amount", "currency")
    list_select_related = ("merchant", "account")
    search_fields = ("=currency",)
    uuid_lookups = {"po": ("pk",), "mer": ("merchant_id",), "pf": ("file_id",)}
    object_lookups = ("pk",)
    fieldsets = (
        (None, {"fields": ("public_id", "shown_status", "failure_code", "of_merchant", "mode")}),
        ("What it pays", {"fields": ("shown_amount", "shown_reserve", "reserve_due", "parts", "postings")}),
        ("Where it goes", {"fields": ("to_account", "way_out", "in_file")}),
        ("Approval", {"fields": ("asked_for_by", "approval")}),
        ("Times", {"fields": ("created", "sent", "paid", "ended", "updated", "version")}),
        ("Events", {"fields": ("events",)}),
        ("At its provider", {"fields": ("provider_account", "provider_ref", "asked", "tries", "next_try", "why")}),
    )
    public_id = id_column("po")
    shown_amount = money_column("amount")
    shown_reserve = money_column("reserve")
    shown_status = column("Status", lambda payout: chip(payout.get_status_display(), CHIPS.get(payout.status, "quiet")))
    to_account = column("Account", lambda payout: link(PayoutAccount, payout.account_id, payout.account))
    way_out = column("By", _way_out)
    asked_for_by = column("Asked for by", lambda payout: payout.requested_by or "its schedule")
    approval = column("Approved", _approval)
    reserve_due = column(
        "Reserve released", lambda payout: moment_cell(payout.reserve_due_at) if payout.reserve_due_at else NOTHING
    )
    sent = column("Sent", lambda payout: moment_cell(payout.sent_at) if payout.sent_at else NOTHING)
    paid = column("Paid", lambda payout: moment_cell(payout.paid_at) if payout.paid_at else NOTHING)
    ended = column("Failed or cancelled", lambda payout: moment_cell(payout.ended_at) if payout.ended_at else NOTHING)
    in_file = column(
        "Bank file",
        lambda payout: link(PayoutFile, payout.file_id, public_id("pf", payout.file_id)) if payout.file_id else NOTHING,
    )
    asked = column("Asked", lambda payout: moment_cell(payout.asked_at) if payout.asked_at else NOTHING)
    next_try = column("Sent or looked up next", lambda payout: moment_cell(payout.due_at) if payout.due_at else NOTHING)
    postings = column("See", lambda payout: search_link(Posting, str(payout), "its postings"))

    @admin.display(description="Made of")
    def parts(self, payout: Payout) -> SafeString | str:
        found = payout.parts.order_by("id")
        shown = [
            link(Settlement if part.is_settlement else Posting, part.id, f"{part} {money(part.amount, part.currency)}")
            for part in found[:SHOWN_PARTS]
        ]
        return lines([*shown, f"{found.count()} in all"])

    @admin.display(description="Of the payout")
    def events(self, payout: Payout) -> SafeString | str:
        found = Event.objects.filter(object_id=payout.pk).defer("payload").order_by("-sequence")[:SHOWN_EVENTS]
        return lines(link(Event, event.id, f"{moment_text(event.created_at)} {event.type}") for event in found)
