"""The results of the money checks."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib import admin
from django.db.models import Q
from django.urls import NoReverseMatch
from django.utils.html import format_html
from django.utils.safestring import SafeString

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import by
from payments.admin.framework.formats import NOTHING, chip, column, lines, link
from payments.admin.shown_times import moment_text
from payments.models import MoneyCheck

HEX_DIGITS = 32


ByReach = by("reach", whole=("Every invariant, for everybody", Q(whole=True)), part=("A part of them", Q(whole=False)))


ByResult = by(
    "result",
    hold=("All hold", Q(finished_at__isnull=False, failures=[])),
    failed=("Some failed", ~Q(failures=[])),
    unfinished=("No end", Q(finished_at__isnull=True)),
)


@admin.register(MoneyCheck)
class MoneyCheckAdmin(BaseAdmin):
    list_display = ("reach", "of_merchant", "took", "chip", "started")
    file_columns = ("started", "chip", "reach", "took", "of_merchant")
    list_filter = (ByResult, ByReach, "started_at")
    search_fields = ("failures",)
    search_help_text = "The name of an invariant that failed, or the ID of what offended."
    fieldsets = (
        (None, {"fields": ("chip", "started", "took", "reach", "of_merchant")}),
        ("What failed", {"fields": ("failed",)}),
        ("What was looked at", {"fields": ("names",)}),
    )
    took = column("Took", lambda check: NOTHING if check.seconds is None else f"{check.seconds:.1f} s")
    reach = column(
        "Reach",
        lambda check: "everything" if check.whole else f"{len(check.invariants)} invariants",
        in_list=lambda check: "Everything" if check.whole else f"{len(check.invariants)} invariants",
    )
    failed = column("Failed", lambda check: lines(map(_shown, check.failures)))
    names = column("Invariants", lambda check: lines(check.invariants))

    def headline(self, row: MoneyCheck) -> str:
        return f"Money check of {moment_text(row.started_at)}"

    @admin.display(description="Result")
    def chip(self, check: MoneyCheck) -> SafeString:
        if check.finished_at is None:
            return chip("no end", "waiting")
        if not check.failures:
            return chip("all hold", "delivered")
        return chip(f"{len(check.failures)} failed", "exhausted")


def _shown(failure: Mapping[str, Any]) -> SafeString:
    """Return a failed invariant with links to the offending rows."""
    ids = failure["ids"]
    links = [_link(failure["model"], text) for text in ids]
    if more := failure["count"] - len(ids):
        links.append(f"and {more} more")
    head = "<strong>{}</strong>: {} offend<br>{}<br>{}<br>"
    return format_html(head, failure["name"], failure["count"], failure["sentence"], lines(links))


def _link(model: str, text: str) -> SafeString | str:
    """Return an ID with a link to its row; without one where its table is gone."""
    try:
        return link(apps.get_model(model), UUID(hex=text[-HEX_DIGITS:]), text)
    except (LookupError, NoReverseMatch):
        return text
