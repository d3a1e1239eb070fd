"""Payouts, and the bank accounts and schedules by which they are made."""

from django.contrib import admin
from django.db.models import Q
from django.utils.safestring import SafeString

from payments.admin.framework.base import ByMode, LookOnlyAdmin, by
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
from payments.admin.moments import moment_cell, moment_text
from payments.models import Event, Payout, PayoutAccount, PayoutSchedule, Posting, Settlement

SHOWN_EVENTS = 100
SHOWN_PARTS = 100
CHIPS: dict[str, str] = {
    Payout.Status.PENDING: "warn",
    Payout.Status.IN_TRANSIT: "warn",
    Payout.Status.PAID: "good",
    Payout.Status.FAILED: "bad",
}
ByStatus = by("status", **{status.value: (status.label, Q(status=status)) for status in Payout.Status})


@admin.register(Payout)
class PayoutAdmin(LookOnlyAdmin):
    merchant_lookup = "merchant"
    list_display = ("public_id", "created", "shown_amount", "shown_status", "account", "merchant", "mode")
    list_filter = (ByStatus, ByMode, "created_at")
    sum_of = ("amount", "currency")
    list_select_related = ("merchant", "account")
    search_fields = ("=currency",)
    uuid_lookups = {"po": ("pk",), "mer": ("merchant_id",)}
    object_lookups = ("pk",)
    fieldsets = (
        (None, {"fields": ("public_id", "shown_status", "failure_code", "of_merchant", "mode")}),
        ("What it pays", {"fields": ("shown_amount", "shown_reserve", "reserve_due", "parts", "postings")}),
        ("Where it goes", {"fields": ("account",)}),
        ("Times", {"fields": ("created", "sent", "paid", "ended", "updated", "version")}),
        ("Events", {"fields": ("events",)}),
    )
    public_id = id_column("po")
    shown_amount = money_column("amount")
    shown_reserve = money_column("reserve")
    shown_status = column("Status", lambda payout: chip(payout.get_status_display(), CHIPS.get(payout.status, "quiet")))
    reserve_due = column(
        "Reserve released", lambda payout: moment_cell(payout.reserve_due_at) if payout.reserve_due_at else NOTHING
    )
    sent = column("Sent", lambda payout: moment_cell(payout.sent_at) if payout.sent_at else NOTHING)
    paid = column("Paid", lambda payout: moment_cell(payout.paid_at) if payout.paid_at else NOTHING)
    ended = column("Failed or cancelled", lambda payout: moment_cell(payout.ended_at) if payout.ended_at else NOTHING)
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


@admin.register(PayoutAccount)
class PayoutAccountAdmin(LookOnlyAdmin):
    merchant_lookup = "merchant"
    list_display = ("holder", "last4", "bic", "currency", "effective", "merchant", "mode")
    list_filter = (ByMode, "created_at")
    list_select_related = ("merchant",)
    search_fields = ("holder", "=last4", "=bic")
    uuid_lookups = {"": ("pk",), "mer": ("merchant_id",)}
    fieldsets = (
        (None, {"fields": ("holder", "last4", "bic", "country", "currency")}),
        ("Whose it is", {"fields": ("of_merchant", "mode")}),
        ("Times", {"fields": ("effective", "created")}),
    )
    effective = column("In effect from", lambda account: moment_cell(account.effective_at))


@admin.register(PayoutSchedule)
class PayoutScheduleAdmin(LookOnlyAdmin):
    merchant_lookup = "merchant"
    list_display = ("merchant", "mode", "currency", "interval", "delay_days", "reserve_percent", "reserve_days", "next")
    list_filter = ("interval", ByMode)
    list_select_related = ("merchant",)
    search_fields = ("=currency",)
    uuid_lookups = {"": ("pk",), "mer": ("merchant_id",)}
    fieldsets = (
        (None, {"fields": ("of_merchant", "mode", "currency", "interval", "next")}),
        ("What it leaves", {"fields": ("delay_days", "reserve_percent", "reserve_days")}),
    )
    next = column("Next payout", lambda schedule: moment_cell(schedule.next_at) if schedule.next_at else NOTHING)
