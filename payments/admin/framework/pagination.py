"""Keyset pagination of lists: newer and older, first and last page."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.db.models import Field, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.index_scan import BY_HOLD_END, BY_KEY, IndexPath, KeyRange, scan_end

NEWEST_FIRST = ("-pk",)
FIRST, LAST = "first", "last"
OLDER, NEWER = "older", "newer"
BETWEEN_VALUES = "~"
# What leads to the other pages of a list in this order.
PAGE_WORDS = {
    BY_KEY: (_("Newest"), _("Newer"), _("Older"), _("Oldest")),
    BY_HOLD_END: (_("Latest"), _("Later"), _("Earlier"), _("Earliest")),
}


@dataclass(frozen=True, slots=True)
class Cursor:
    """The position of a page: its rows are older, or newer, than the place `start`; None is the list's end."""

    older: bool = True
    start: tuple[Any, ...] | None = None

    @classmethod
    def read(cls, text: str, fields: "Sequence[Field[Any, Any]]", newest_first: bool = True) -> "Cursor":
        """Return the cursor of an address; the list's first page for an invalid one."""
        if text in (FIRST, LAST):
            return cls(older=text == FIRST)
        direction, _, place = text.partition(".")
        try:
            values = zip(fields, place.split(BETWEEN_VALUES), strict=True)
            start = tuple(field.to_python(value) for field, value in values)
        except (ValidationError, ValueError):
            return cls(newest_first)
        return cls(direction == OLDER, start) if direction in (OLDER, NEWER) else cls(newest_first)


@dataclass(frozen=True, slots=True)
class Found:
    """The places of a page in its cursor's order, whether more follow, and where an incomplete scan stopped."""

    places: Sequence[tuple[Any, ...]]
    has_more: bool
    end: Any

    @property
    def next(self) -> Any:
        """Return the place after which the next page begins; None without one."""
        return self.places[-1] if self.has_more else self.end


class NumberedList(ChangeList):
    """One page of a short list, by its number."""

    model_admin: Any

    # No list with numbered pages is so long that its rows may not be read for their sums.
    is_long = False

    def batches(self, length: int) -> Iterator[list[Any]]:
        """Yield all rows of the list in the order of their primary key, at most `length` at once."""
        rows = self.apply_select_related(self.queryset).order_by("pk")
        batch = self._completed(rows[:length])
        while batch:
            last = batch[-1].pk
            yield batch
            batch = self._completed(rows.filter(pk__gt=last)[:length])

    def _completed(self, rows: QuerySet[Any]) -> list[Any]:
        found = list(rows.all())
        self.model_admin.complete(found)
        return found


class KeysetList(ChangeList):
    """One page, with the addresses of its neighbours."""

    model_admin: Any

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        # A change of the model's own names would be a migration.
        self.opts: Any = copy(self.opts)
        self.opts.verbose_name, self.opts.verbose_name_plural = self.model_admin.words

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        self.request = request
        return super().get_queryset(request, exclude_parameters)

    def get_results(self, request: HttpRequest) -> None:
        column, direction = next(iter(self.get_ordering_field_columns().items()), (0, "desc"))
        sorts = dict(enumerate(map(self.get_ordering_field, self.list_display)))
        self.order = BY_HOLD_END if sorts.get(column) == BY_HOLD_END[0] else BY_KEY
        self.newest_first = direction == "desc" or column not in sorts
        self.path = self.model_admin.index_path(request, self)
        fields = [self.opts.pk if name == "pk" else self.opts.get_field(name) for name in self.order]
        cursor = Cursor.read(request.GET.get(PAGE_VAR, ""), fields, self.newest_first)
        found = self.find(cursor, self.list_per_page)
        if cursor == Cursor():
            self.is_long = found.end is not None
        self._link(cursor, found)
        self.result_list = self.rows_of(sorted(found.places, reverse=self.newest_first))
        # Only these rows are counted, and Django's texts about the full count are left out.
        self.result_count = self.full_result_count = len(self.result_list)
        self.show_full_result_count = self.can_show_all = self.multi_page = False
        self.show_admin_actions = True

    def find(self, cursor: Cursor, length: int) -> Found:
        """Return the places of at most `length` rows from `cursor` on."""
        key_range = self._key_range(cursor)
        skips_rows = self.model_admin.skips_rows(self, key_range.path)
        end = scan_end(key_range, self.model._default_manager.all()) if skips_rows else None
        searched = key_range if end is None else key_range.up_to(end)
        places = searched.places_in(self.queryset, length + 1)
        return Found(places[:length], len(places) > length, end)

    def rows_of(self, places: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the rows at these places, in their order."""
        ids = [place[-1] for place in places]
        found = self.apply_select_related(self.root_queryset.filter(pk__in=ids)).in_bulk()
        return [found[pk] for pk in ids if pk in found]

    @cached_property
    def is_long(self) -> bool:
        """Whether more rows have to be read to find all of this list than a page may read."""
        key_range = self._key_range(Cursor())
        skips_rows = self.model_admin.skips_rows(self, key_range.path)
        return skips_rows and scan_end(key_range, self.model._default_manager.all()) is not None

    def batches(self, length: int) -> Iterator[list[Any]]:
        """Yield all rows of the list, newest first, at most `length` at once."""
        end, rows = self._batch(Cursor(), length)
        yield rows
        while end is not None:
            end, rows = self._batch(Cursor(start=end), length)
            yield rows

    def _batch(self, cursor: Cursor, length: int) -> tuple[Any, list[Any]]:
        """Return the rows from `cursor` on, and the place after which the next ones begin."""
        found = self.find(cursor, length)
        rows = self.rows_of(found.places)
        self.model_admin.complete(rows)
        return found.next, rows

    def _key_range(self, cursor: Cursor) -> KeyRange:
        """Return the range from `cursor` on, within the chosen days where the list is in their order."""
        bounds = next((spec.bounds for spec in self.filter_specs if hasattr(spec, "bounds")), (None, None))
        low, high = (bound and (bound,) if self.order == BY_KEY else None for bound in bounds)
        if cursor.start is not None:
            low, high = (low, cursor.start) if cursor.older else (cursor.start, high)
        path = self.path if self.path.has_few_prefixes else IndexPath(order=self.order)
        return KeyRange(path, low, high, cursor.older)

    def _link(self, cursor: Cursor, found: Found) -> None:
        """Set the addresses of the other pages. After an incomplete scan the next page continues there."""
        ahead, behind = found.next, found.places[0] if found.places else cursor.start
        if cursor.start is None:
            behind = None
        older, newer = (ahead, behind) if cursor.older else (behind, ahead)
        self.is_incomplete = not found.has_more and found.end is not None
        newest, latest, earliest, oldest = PAGE_WORDS[self.order]
        to_newer = [(newest, FIRST), (latest, _page(NEWER, newer))] if newer else []
        to_older = [(earliest, _page(OLDER, older)), (oldest, LAST)] if older else []
        before, after = (to_newer, to_older) if self.newest_first else (to_older[::-1], to_newer[::-1])
        self.before, self.after = self._addresses(before), self._addresses(after)

    def _addresses(self, pages: Iterable[tuple[Any, str]]) -> list[tuple[Any, str]]:
        return [(words, str(self.get_query_string({PAGE_VAR: page}))) for words, page in pages]


def _page(direction: str, place: Iterable[Any]) -> str:
    """Return the page of a list from `place` on, as an address names it."""
    values = (value.isoformat() if isinstance(value, datetime) else str(value) for value in place)
    return f"{direction}.{BETWEEN_VALUES.join(values)}"


def used_by(spec: Any, order: Sequence[str] = BY_KEY) -> set[str]:
    """Return the parameters of an active filter, but none for a filter by ID where a list has that order."""
    return set() if hasattr(spec, "bounds") and order == BY_KEY else set(spec.used_parameters)
