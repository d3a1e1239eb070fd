"""The lines of providers' reports."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.utils.text import capfirst

from payments.admin.form_fields import WholeNumberField
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import by, one_of
from payments.admin.framework.form_filters import FormFilter
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    column,
    lines,
    link,
    moment_column,
    money,
    money_column,
    row_link_column,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.reconciliation import bank
from payments.admin.shown_times import moment_cells
from payments.models import Attempt, OwnBankAccount, Posting, ReconciliationItem, ReconciliationRun, ReportLine
from payments.providers.registry import CONNECTORS, PROVIDERS


class RunForm(forms.Form):
    run = WholeNumberField(required=False, min_value=1, max_value=2**63 - 1, label="Number of a run")


class ByProvider(one_of("provider", [*PROVIDERS, *CONNECTORS])):  # type: ignore[misc]
    """A filter by provider, or by the name of a bank account of ours."""

    def __init__(self, *args: Any) -> None:
        accounts = OwnBankAccount.objects.order_by("name").values_list("name", flat=True)
        self.conditions = {**self.conditions} | {name: (name, Q(provider=name)) for name in accounts}  # type: ignore[has-type]
        super().__init__(*args)


class ByRun(FormFilter):
    """A filter by the number of a run, as its page links to it."""

    title = "run"
    parameter_name = "run"
    form_class = RunForm

    def condition(self) -> Q:
        return Q(run=self.used_parameters["run"])

    def words(self) -> str:
        return str(self.used_parameters.get("run", "any"))


ByMatch = by("match", matched=("Matched", Q(matched_at__isnull=False)), unmatched=("Not matched", Q(matched_at=None)))


@admin.register(ReportLine)
class ReportLineAdmin(BaseAdmin):
    merchant_lookup = "attempt__charge__merchant"
    list_select_related = bank.WITH_WHAT_OF_LINE
    list_display = ("shown_kind", "names", "provider_ref", "provider", "shown_amount", "match", "booked")
    file_columns = ("booked", "kind", "shown_amount", "matched", "provider", "reference", "provider_ref")
    list_filter = (ByMatch, "kind", ByProvider, ByRun, "booked_at")
    search_fields = ("reference", "provider_ref")
    search = IdSearch({"attempt": "attempt_id"}, exact="reference provider_ref")
    search_help_text = "Our reference or the provider's, whole."
    fieldsets = (
        (None, {"fields": ("run_link", "number", "provider", "kind", "word", "shown_amount", "booked")}),
        ("Operation", {"fields": ("reference", "provider_ref", "attempt_link")}),
        ("Match", {"fields": ("matched", "posting_link", "differences")}),
        ("At our bank", {"fields": ("is_what", "arrived", "text")}),
    )
    names = column("Reference", lambda line: bank.named(line) or bank.text_of(line) or line.reference or NOTHING)
    booked = column("Booked", bank.day_of, cells=moment_cells("booked_at"))
    matched = moment_column("matched_at")
    shown_amount = money_column("amount")
    shown_kind = column("Kind", lambda line: line.get_kind_display())
    match = column("State", lambda line: chip("matched", "good") if line.matched_at else chip("not matched", "warn"))
    is_what = column("What it is", bank.what_it_is)
    arrived = column("Arrived", lambda line: bank.at_bank(line.arrivals))
    text = column("Text of the bank", lambda line: bank.text_of(line) or NOTHING)
    run_link = row_link_column("run", ReconciliationRun)
    posting_link = row_link_column("posting", Posting)
    attempt_link = row_link_column("attempt", Attempt)
    differences = column(
        "Differences", lambda line: lines(link(ReconciliationItem, item.pk, item) for item in line.items.order_by("pk"))
    )

    def headline(self, row: ReportLine) -> str:
        if row.kind == ReportLine.Kind.BOOKED:
            return capfirst(f"{bank.moved(row)} on {bank.day_of(row)}")
        if row.kind == ReportLine.Kind.PAYOUT:
            return f"{money(-row.amount, row.currency)} that {row.provider} paid to our bank"
        return super().headline(row)
