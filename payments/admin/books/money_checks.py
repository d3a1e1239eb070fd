"""The results of the money checks."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib import admin
from django.db.models import Q
from django.utils.html import format_html
from django.utils.safestring import SafeString

from payments.admin.framework.base import LookOnlyAdmin, by
from payments.admin.framework.formats import NOTHING, lines, link, moment_column
from payments.models import MoneyCheck

HEX_DIGITS = 32


ByReach = by(
    "reach",
    whole=("Every invariant, for everybody", Q(whole=True)),
    part=("A part of them", Q(whole=False)),
)


ByResult = by(
    "result",
    hold=("All hold", Q(finished_at__isnull=False, failures=[])),
    failed=("Some failed", ~Q(failures=[])),
    unfinished=("No end", Q(finished_at__isnull=True)),
)


@admin.register(MoneyCheck)
class MoneyCheckAdmin(LookOnlyAdmin):
    merchant_lookup = "merchant"
    list_display = ("started", "chip", "reach", "took", "of_merchant")
    list_filter = (ByResult, ByReach, "started_at")
    search_fields = ("failures",)
    search_help_text = "The name of an invariant that failed, or the ID of what offended."
    fieldsets = (
        (None, {"fields": ("chip", "started", "took", "reach", "of_merchant")}),
        ("What failed", {"fields": ("failed",)}),
        ("What was looked at", {"fields": ("names",)}),
    )
    started = moment_column("started_at")

    @admin.display(description="Result")
    def chip(self, check: MoneyCheck) -> SafeString:
        if check.finished_at is None:
            return format_html('<span class="chip chip-waiting">{}</span>', "no end")
        if not check.failures:
            return format_html('<span class="chip chip-delivered">{}</span>', "all hold")
        return format_html('<span class="chip chip-exhausted">{} failed</span>', len(check.failures))

    @admin.display(description="Took")
    def took(self, check: MoneyCheck) -> str:
        return NOTHING if check.seconds is None else f"{check.seconds:.1f} s"

    @admin.display(description="Reach")
    def reach(self, check: MoneyCheck) -> str:
        return "everything" if check.whole else f"{len(check.invariants)} invariants"

    @admin.display(description="Failed")
    def failed(self, check: MoneyCheck) -> SafeString | str:
        return lines(map(_shown, check.failures))

    @admin.display(description="Invariants")
    def names(self, check: MoneyCheck) -> SafeString | str:
        return lines(check.invariants)


def _shown(failure: Mapping[str, Any]) -> SafeString:
    """Return a failed invariant with links to the offending rows."""
    model, ids = apps.get_model(failure["model"]), failure["ids"]
    links = [link(model, UUID(hex=text[-HEX_DIGITS:]), text) for text in ids]
    if more := failure["count"] - len(ids):
        links.append(f"and {more} more")
    head = "<strong>{}</strong>: {} offend<br>{}<br>{}<br>"
    return format_html(head, failure["name"], failure["count"], failure["sentence"], lines(links))
