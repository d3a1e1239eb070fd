"""The lines of providers' reports."""

from django import forms
from django.contrib import admin
from django.db.models import Q

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
    money_column,
    row_link_column,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.reconciliation import bank
from payments.models import Attempt, Posting, ReconciliationItem, ReconciliationRun, ReportLine
from payments.providers.registry import CONNECTORS, PROVIDERS


class RunForm(forms.Form):
    run = WholeNumberField(required=False, min_value=1, max_value=2**63 - 1, label="Number of a run")


ByProvider = one_of("provider", [*PROVIDERS, *CONNECTORS])


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
    list_display = ("shown_kind", "reference", "provider_ref", "provider", "shown_amount", "match", "booked")
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
    booked = moment_column("booked_at")
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
