"""Sums per currency above a list, of at most so many of its filtered rows."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from payments.admin.framework.object_actions import Part

SUMMED_ROWS = 20_000
Sums = Iterator[tuple[str, Iterable[tuple[str, str]]]]


class SumsOnTop(Part):
    """The sums of all rows that the filters of a list leave, not of one page alone.

    `sums` yields for each currency its name and the sums, each with its title. `note` returns why there are none, "" if
    there are some.
    """

    template = "admin/payments/statements/list_with_sums.html"

    def __init__(self, sums: Callable[[QuerySet[Any]], Sums], note: Callable[[Any], str] = lambda _: "") -> None:
        self.sums, self.note = sums, note

    def beside_list(self, page: Any, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        note = self.note(changelist)
        keys = changelist.queryset.order_by("-pk").values("pk")[:SUMMED_ROWS]
        rows = page.model._default_manager.filter(pk__in=keys)
        sums = [] if note else [(name, list(amounts)) for name, amounts in self.sums(rows)]
        return {"sums": sums, "sum_note": note, "summed_rows": f"{SUMMED_ROWS:,}"}
