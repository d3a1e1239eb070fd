"""The ledger: postings and daily settlements."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from payments.admin.framework.base import ByMode, LookOnlyAdmin
from payments.admin.framework.formats import (
    NOTHING,
    Column,
    column,
    id_column,
    id_link_column,
    lines,
    link,
    money,
    search_link,
)
from payments.ledger.totals import totals_of
from payments.models import Attempt, Charge, Posting, Settlement

SHOWN_CHARGES = 100


def _sum_of(account: str) -> Subquery:
    """Return a subquery for what a settlement moved to `account`."""
    postings = Posting.objects.filter(settlement=OuterRef("pk"), account=account).order_by()
    return Subquery(postings.values("settlement").annotate(total=Sum("amount")).values("total"))


def _total_column(name: str) -> Column:
    """Return a column with one of a settlement's loaded totals."""
    return column(capfirst(name), lambda settlement: money(getattr(settlement.totals, name), settlement.currency))


@admin.register(Settlement)
class SettlementAdmin(LookOnlyAdmin):
    merchant_lookup = "merchant"
    list_display = ("day", "merchant", "mode", "to_bank", "to_merchant", "public_id")
    list_filter = (ByMode, "day")
    list_select_related = ("merchant",)
    search_fields = ("=currency",)
    uuid_lookups = {"set": ("pk",), "mer": ("merchant_id",), "ch": ("postings__charge_id",)}
    fieldsets = (
        (None, {"fields": ("public_id", "day", "of_merchant", "mode", "currency", "created")}),
        ("What it amounts to", {"fields": ("gross", "refunds", "fees", "net")}),
        ("What it moved", {"fields": ("to_bank", "to_merchant", "charges", "postings")}),
    )
    public_id = id_column("set")
    gross = _total_column("gross")
    refunds = _total_column("refunds")
    fees = _total_column("fees")
    net = _total_column("net")
    to_bank = column("To the bank", lambda settlement: money(settlement.bank or 0, settlement.currency), is_number=True)
    to_merchant = column(
        "To the merchant", lambda settlement: money(-(settlement.payable or 0), settlement.currency), is_number=True
    )
    postings = column("See", lambda settlement: search_link(Posting, str(settlement), "its postings"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Settlement]:
        account = Posting.Account
        sums = {"bank": _sum_of(account.BANK), "payable": _sum_of(account.MERCHANT_PAYABLE)}
        return super().get_queryset(request).annotate(**sums)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Settlement | None:
        found = super().get_object(request, object_id, from_field)
        if found:
            found.totals = totals_of([found])[found.pk]
        return found

    @admin.display(description="Charges")
    def charges(self, settlement: Any) -> SafeString | str:
        found = Charge.objects.filter(id__in=settlement.postings.values("charge_id")).order_by("id")[:SHOWN_CHARGES]
        shown = [link(Charge, row.id, f"{row} {money(row.amount_captured, row.currency)}") for row in found]
        return lines([*shown, f"{settlement.totals.charges} in all"])


@admin.register(Posting)
class PostingAdmin(LookOnlyAdmin):
    merchant_lookup = "merchant"
    list_display = ("created", "kind", "account", "debit", "credit", "merchant", "mode", "charge_link")
    list_filter = ("kind", "account", ByMode, "created_at")
    list_select_related = ("merchant",)
    search_fields = ("=journal",)
    uuid_lookups = {
        "": ("pk", "journal"),
        "ch": ("charge_id",),
        "set": ("settlement_id",),
        "attempt": ("attempt_id",),
        "mer": ("merchant_id",),
    }
    object_lookups = ("charge_id",)
    fieldsets = (
        (None, {"fields": ("kind", "account", "debit", "credit", "created")}),
        ("What it is about", {"fields": ("charge_link", "attempt", "settlement_link", "of_merchant", "mode")}),
        ("Its journal", {"fields": ("journal", "line", "others")}),
    )
    debit = column(
        "Debit", lambda posting: money(posting.amount, posting.currency) if posting.amount > 0 else "", is_number=True
    )
    credit = column(
        "Credit", lambda posting: money(-posting.amount, posting.currency) if posting.amount < 0 else "", is_number=True
    )
    settlement_link = id_link_column("settlement", "set", Settlement)
    attempt = column(
        "Attempt",
        lambda posting: link(Attempt, posting.attempt_id, posting.attempt_id.hex) if posting.attempt_id else NOTHING,
    )
    others = column("All its lines", lambda posting: search_link(Posting, str(posting.journal), "debits and credits"))
