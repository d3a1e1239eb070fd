"""Sums per currency above a list, of at most so many of its filtered rows."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

SUMMED_ROWS = 20_000
Sums = Iterator[tuple[str, Iterable[tuple[str, str]]]]


class SumsOnTop(admin.ModelAdmin):
    """A list with the sums of all rows that its filters leave, not of one page alone."""

    change_list_template = "admin/payments/statements/list_with_sums.html"

    def sums_of(self, rows: QuerySet[Any]) -> Sums:
        """Yield for each currency its name and the sums, each with its title."""
        raise NotImplementedError

    def sum_note(self, request: HttpRequest, changelist: Any) -> str:
        """Return why there are no sums, if there are none."""
        return ""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        response: Any = super().changelist_view(request, extra_context)
        changelist = getattr(response, "context_data", {}).get("cl")
        if changelist is not None:
            note = self.sum_note(request, changelist)
            keys = changelist.queryset.order_by("-pk").values("pk")[:SUMMED_ROWS]
            rows = self.model._default_manager.filter(pk__in=keys)
            sums = [] if note else [(name, list(amounts)) for name, amounts in self.sums_of(rows)]
            response.context_data |= {"sums": sums, "sum_note": note, "summed_rows": f"{SUMMED_ROWS:,}"}
        return response
