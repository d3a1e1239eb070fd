"""The ledger: postings and daily settlements."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from payments import clock
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode
from payments.admin.framework.form_filters import ByDays, ByMerchant
from payments.admin.framework.formats import (
    NOTHING,
    Column,
    about_id,
    about_link,
    column,
    id_link_column,
    lines,
    link,
    money,
    search_link,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.statements.list_sums import Sums, SumsOnTop
from payments.ids import first_id
from payments.ledger.account_days import DAY, ID_MARGIN, midnight
from payments.ledger.totals import sums_of, totals_of
from payments.models import Attempt, Charge, Posting, Settlement

SHOWN_CHARGES = 100
LONGEST_SUM = timedelta(days=366)


class BySettlementDay(ByDays):
    """A filter by the day of settlement (UTC); its IDs are made on that day, or just after it."""

    title = "day of settlement (UTC)"

    @property
    def bounds(self) -> tuple[UUID | None, UUID | None]:
        since, until = (self.used_parameters.get(name) for name in self.form_class.base_fields)
        low = since and first_id(midnight(since) - ID_MARGIN)
        return low, until and first_id(midnight(until + DAY) + ID_MARGIN)

    def condition(self) -> Q:
        since, until = (self.used_parameters.get(name) for name in self.form_class.base_fields)
        low, high = self.bounds
        days = (Q(day__gte=since) if since else Q()) & (Q(day__lte=until) if until else Q())
        return days & (Q(pk__gt=low) if low else Q()) & (Q(pk__lt=high) if high else Q())


def _sum_of(account: str) -> Subquery:
    """Return a subquery for what a settlement moved to `account`."""
    postings = Posting.objects.filter(settlement=OuterRef("pk"), account=account).order_by()
    return Subquery(postings.values("settlement").annotate(total=Sum("amount")).values("total"))


def _total_column(name: str, label: str = "") -> Column:
    """Return a column with one of a settlement's loaded totals."""
    return column(
        label or capfirst(name),
        lambda settlement: money(getattr(settlement.totals, name), settlement.currency),
        is_number=True,
    )


def _sum_note(changelist: Any) -> str:
    """Return why a list has no sums; nothing where it has."""
    days: dict[str, Any] = next(
        (spec.used_parameters for spec in changelist.filter_specs if hasattr(spec, "bounds")), {}
    )
    last = days.get("until") or clock.now().date()
    if "since" in days and last - days["since"] <= LONGEST_SUM:
        return ""
    return "Choose a first day, and at most a year, to see the sums."


def _sums(rows: QuerySet[Settlement]) -> Sums:
    """Return gross, refunds, fees and net of each mode and currency."""
    found = sums_of(list(rows.order_by().only("livemode", "currency")))
    for (livemode, currency), totals in sorted(found.items(), key=lambda entry: (not entry[0][0], entry[0][1])):
        amounts = (money(amount, currency) for amount in totals.amounts)
        charges = ("Charges", f"{totals.charges:,}")
        title = f"{'Live' if livemode else 'Test'} {currency}"
        yield title, [charges, *zip(("Gross", "Refunds", "Fees", "Net"), amounts, strict=True)]


@admin.register(Settlement)
class SettlementAdmin(BaseAdmin):
    change_list_template = SumsOnTop.template
    parts = (SumsOnTop(_sums, _sum_note),)
    list_display = (
        *("merchant", "on", "net", "gross", "refunds", "fees"),
        *("to_bank", "to_merchant", "mode"),
    )
    file_columns = (
        *("day", "merchant", "mode", "gross", "refunds", "fees", "net"),
        *("to_bank", "to_merchant", "public_id"),
    )
    list_filter = (ByMerchant, BySettlementDay, ByMode)
    list_select_related = ("merchant",)
    search_fields = ("=currency",)
    search = IdSearch({"set": "pk", "mer": "merchant_id", "ch": "postings__charge_id"})
    fieldsets = (
        (None, {"fields": ("public_id", "day", "of_merchant", "mode", "currency", "created")}),
        ("What it amounts to", {"fields": ("gross", "refunds", "fees", "net")}),
        ("What it moved", {"fields": ("to_bank", "to_merchant", "charges", "postings")}),
    )
    on = column("Day", lambda settlement: f"{settlement.day:%d %b %Y}")
    gross = _total_column("gross")
    refunds = _total_column("refunds", "Refunds and disputes")
    fees = _total_column("fees")
    net = _total_column("net")
    to_bank = column("To the bank", lambda settlement: money(settlement.bank or 0, settlement.currency), is_number=True)
    to_merchant = column(
        "To the merchant", lambda settlement: money(-(settlement.payable or 0), settlement.currency), is_number=True
    )
    postings = column("See", lambda settlement: search_link(Posting, str(settlement), "its postings"))

    def headline(self, row: Settlement) -> str:
        return f"Settlement of {row.day:%d %b %Y} for {row.merchant}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Settlement]:
        account = Posting.Account
        sums = {"bank": _sum_of(account.BANK), "payable": _sum_of(account.MERCHANT_PAYABLE)}
        return super().get_queryset(request).annotate(**sums)

    def complete(self, rows: Any) -> None:
        super().complete(rows)
        totals = totals_of(rows)
        for row in rows:
            row.totals = totals[row.pk]

    @admin.display(description="Charges")
    def charges(self, settlement: Any) -> SafeString | str:
        found = Charge.objects.filter(id__in=settlement.postings.values("charge_id")).order_by("id")[:SHOWN_CHARGES]
        shown = [link(Charge, row.id, f"{row} {money(row.amount_captured, row.currency)}") for row in found]
        return lines([*shown, f"{settlement.totals.charges} in all"])


class PostingSearch(IdSearch):
    """A search for lines of the ledger. No index has those of an attempt or a journal alone."""

    def conditions(self, term: str) -> Iterator[dict[str, Any]]:
        """Find the lines of an attempt, or of a journal by its first, among those of its charge or payout."""
        for condition in super().conditions(term):
            if attempt := condition.get("attempt_id"):
                yield condition | {"charge__attempts": attempt}
            elif journal := condition.get("journal"):
                about = Posting.objects.filter(journal=journal, line=1).values("charge_id", "payout_id")
                yield from (condition | {name: it for name, it in found.items() if it} for found in about)
            else:
                yield condition


@admin.register(Posting)
class PostingAdmin(BaseAdmin):
    list_display = ("shown_kind", "shown_account", "merchant", "debit", "credit", "created", "mode")
    file_columns = ("created", "kind", "account", "debit", "credit", "merchant", "mode", "about")
    list_filter = ("kind", "account", ByMode, "created_at")
    list_select_related = ("merchant",)
    search_fields = ("=journal",)
    search = PostingSearch(
        {
            "": "pk journal",
            "ch": "charge_id",
            "po": "payout_id",
            "set": "settlement_id",
            "attempt": "attempt_id",
            "mer": "merchant_id",
        },
        objects="charge_id",
    )
    fieldsets = (
        (None, {"fields": ("kind", "account", "debit", "credit", "created")}),
        ("What it is about", {"fields": ("about", "attempt", "settlement_link", "of_merchant", "mode")}),
        ("Its journal", {"fields": ("journal", "line", "others")}),
    )
    shown_kind = column("Kind", lambda posting: capfirst(posting.kind.replace("_", " ")))
    shown_account = column("Account", lambda posting: capfirst(posting.account.replace("_", " ")))
    about = column("About", about_link, cells={"about": about_id})
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
