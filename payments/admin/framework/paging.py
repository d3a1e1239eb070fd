"""Lists that are paged by their rows and not by numbers: newer and older, the first page and the last."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.db.models import Field
from django.http import HttpRequest

from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.index_scan import Road, Stretch, end_of_search

NEWEST_FIRST = ("-pk",)
# What PostgreSQL expects of the whole statement stands in the first line of its plan.
ROWS = re.compile(r"\brows=(\d+)")
LAST = "last"
OLDER, NEWER = "older.", "newer."


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page is: its rows are older than the one with the ID `start`, or newer; None is the list's end."""

    older: bool = True
    start: Any = None

    @classmethod
    def read(cls, text: str, field: "Field[Any, Any]") -> "Cursor":
        """The cursor that an address has; the first page for whatever it cannot have."""
        if text == LAST:
            return cls(older=False)
        older, pk = text.startswith(OLDER), text.removeprefix(OLDER).removeprefix(NEWER)
        try:
            return cls(older or not text.startswith(NEWER), None if pk == text else field.to_python(pk))
        except ValidationError:
            return cls()


@dataclass(frozen=True, slots=True)
class Found:
    """The IDs of a page, in the order of its cursor; whether more follow at once, and where the search broke off."""

    ids: Sequence[Any]
    goes_on: bool
    end: Any

    @property
    def next_id(self) -> Any:
        """The ID after which the next page begins; None where there is none."""
        return self.ids[-1] if self.goes_on else self.end


class KeysetList(ChangeList):
    """One page, with the addresses of those beside it."""

    model_admin: "KeysetPaging"

    def get_results(self, request: HttpRequest) -> None:
        self.road = self.model_admin.road_of(request, self)
        cursor = Cursor.read(request.GET.get(PAGE_VAR, ""), self.opts.pk)
        found = self.find(cursor, self.list_per_page)
        self._link(cursor, found)
        self._show(sorted(found.ids, reverse=True))

    def find(self, cursor: Cursor, length: int) -> Found:
        """At most `length` rows from `cursor` on."""
        stretch = self._stretch(cursor)
        sifts = self.model_admin.sifts(self, stretch.road)
        end = end_of_search(stretch, self.model._default_manager.all()) if sifts else None
        searched = stretch if end is None else stretch.up_to(end)
        ids = searched.ids_in(self.queryset, length + 1)
        return Found(ids[:length], len(ids) > length, end)

    def rows_of(self, ids: Sequence[Any]) -> list[Any]:
        """The rows with these IDs, in their order."""
        found = self.apply_select_related(self.root_queryset.filter(pk__in=ids)).in_bulk()
        return [found[pk] for pk in ids if pk in found]

    def estimate(self) -> int:
        """How many rows PostgreSQL expects in the whole list; it is not asked about one that must be empty."""
        expected = ROWS.search(self.queryset.order_by().explain())
        return int(expected[1]) if expected else 0

    def _stretch(self, cursor: Cursor) -> Stretch:
        """Within the time that was chosen, which IDs tell."""
        low, high = next((spec.bounds for spec in self.filter_specs if hasattr(spec, "bounds")), (None, None))
        if cursor.start is not None:
            low, high = (low, cursor.start) if cursor.older else (cursor.start, high)
        return Stretch(self.road if self.road.is_short else Road(), low, high, cursor.older)

    def _link(self, cursor: Cursor, found: Found) -> None:
        """The addresses of the other pages. Where the search was broken off, the next one goes on from there."""
        ahead, behind = found.next_id, found.ids[0] if found.ids else cursor.start
        if cursor.start is None:
            behind = None
        older, newer = (ahead, behind) if cursor.older else (behind, ahead)
        self.is_broken_off = not found.goes_on and found.end is not None
        self.older = self._address(f"{OLDER}{older}") if older is not None else None
        self.newer = self._address(f"{NEWER}{newer}") if newer is not None else None
        self.oldest, self.newest = self._address(LAST), self._address(None)

    def _address(self, page: str | None) -> str:
        return str(self.get_query_string({PAGE_VAR: page}))

    def _show(self, ids: Sequence[Any]) -> None:
        self.result_list = self.rows_of(ids)
        # Of these alone is anything counted, and what Django says of all the others is left out.
        self.result_count = self.full_result_count = len(self.result_list)
        self.show_full_result_count = self.can_show_all = self.multi_page = False
        self.show_admin_actions = True


class KeysetPaging(IdSearch):
    """A list of any length, if it is ordered by its primary key, newest first; others are paged by numbers."""

    change_list_template = "admin/payments/keyset_list.html"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return KeysetList if tuple(self.get_ordering(request)) == NEWEST_FIRST else ChangeList

    def road_of(self, request: HttpRequest, changelist: ChangeList) -> Road:
        """The index along which the rows of this list are found."""
        return Road()

    def sifts(self, changelist: ChangeList, road: Road) -> bool:
        """Whether most rows of `road` may be passed over, so that a page must not search it to its end."""
        if changelist.query:
            return not self.is_found_by_index(changelist.query.strip())
        used = {name for spec in changelist.filter_specs for name in used_by(spec)}
        return bool(used - road.filters)

    def is_found_by_index(self, term: str) -> bool:
        """Whether what `term` finds has an index of its own."""
        return any(self.conditions(term))


def used_by(spec: Any) -> set[str]:
    """The parameters of a filter that is in effect, unless IDs alone tell what it lets through."""
    return set() if hasattr(spec, "bounds") else set(spec.used_parameters)
