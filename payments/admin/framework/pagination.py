"""Keyset pagination of lists: newer and older, first and last page."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.db.models import Field, QuerySet
from django.http import HttpRequest

from payments.admin.framework.index_scan import IndexPath, KeyRange, scan_end

NEWEST_FIRST = ("-pk",)
FIRST, LAST = "first", "last"
OLDER, NEWER = "older.", "newer."


@dataclass(frozen=True, slots=True)
class Cursor:
    """The position of a page: its rows are older, or newer, than the ID `start`; None is the list's end."""

    older: bool = True
    start: Any = None

    @classmethod
    def read(cls, text: str, field: "Field[Any, Any]", newest_first: bool = True) -> "Cursor":
        """Return the cursor of an address; the list's first page for an invalid one."""
        if text in (FIRST, LAST):
            return cls(older=text == FIRST)
        older, pk = text.startswith(OLDER), text.removeprefix(OLDER).removeprefix(NEWER)
        try:
            return cls(older, field.to_python(pk)) if pk != text else cls(newest_first)
        except ValidationError:
            return cls(newest_first)


@dataclass(frozen=True, slots=True)
class Found:
    """The IDs of a page in its cursor's order, whether more follow, and where an incomplete scan stopped."""

    ids: Sequence[Any]
    has_more: bool
    end: Any

    @property
    def next_id(self) -> Any:
        """Return the ID after which the next page begins; None without one."""
        return self.ids[-1] if self.has_more else self.end


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
            yield batch
            batch = self._completed(rows.filter(pk__gt=batch[-1].pk)[:length])

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
        self.path = self.model_admin.index_path(request, self)
        order = next(iter(self.get_ordering_field_columns().items()), None)
        self.newest_first = order is None or order[1] == "desc"
        cursor = Cursor.read(request.GET.get(PAGE_VAR, ""), self.opts.pk, self.newest_first)
        found = self.find(cursor, self.list_per_page)
        self._link(cursor, found)
        self.result_list = self.rows_of(sorted(found.ids, reverse=self.newest_first))
        # Only these rows are counted, and Django's texts about the full count are left out.
        self.result_count = self.full_result_count = len(self.result_list)
        self.show_full_result_count = self.can_show_all = self.multi_page = False
        self.show_admin_actions = True

    def find(self, cursor: Cursor, length: int) -> Found:
        """Return at most `length` IDs from `cursor` on."""
        key_range = self._key_range(cursor)
        skips_rows = self.model_admin.skips_rows(self, key_range.path)
        end = scan_end(key_range, self.model._default_manager.all()) if skips_rows else None
        searched = key_range if end is None else key_range.up_to(end)
        ids = searched.ids_in(self.queryset, length + 1)
        return Found(ids[:length], len(ids) > length, end)

    def rows_of(self, ids: Sequence[Any]) -> list[Any]:
        """Return the rows with these IDs, in their order."""
        found = self.apply_select_related(self.root_queryset.filter(pk__in=ids)).in_bulk()
        return [found[pk] for pk in ids if pk in found]

    @property
    def is_long(self) -> bool:
        """Whether more rows have to be read to find all of this list than a page may read."""
        key_range = self._key_range(Cursor())
        skips_rows = self.model_admin.skips_rows(self, key_range.path)
        return skips_rows and scan_end(key_range, self.model._default_manager.all()) is not None

    def batches(self, length: int) -> Iterator[list[Any]]:
        """Yield all rows of the list, newest first, at most `length` at once."""
        next_id, rows = self._batch(Cursor(), length)
        yield rows
        while next_id is not None:
            next_id, rows = self._batch(Cursor(start=next_id), length)
            yield rows

    def _batch(self, cursor: Cursor, length: int) -> tuple[Any, list[Any]]:
        """Return the rows from `cursor` on, and the ID after which the next ones begin."""
        found = self.find(cursor, length)
        rows = self.rows_of(found.ids)
        self.model_admin.complete(rows)
        return found.next_id, rows

    def _key_range(self, cursor: Cursor) -> KeyRange:
        """Return the range of IDs from `cursor` on, within the chosen days."""
        low, high = next((spec.bounds for spec in self.filter_specs if hasattr(spec, "bounds")), (None, None))
        if cursor.start is not None:
            low, high = (low, cursor.start) if cursor.older else (cursor.start, high)
        return KeyRange(self.path if self.path.has_few_prefixes else IndexPath(), low, high, cursor.older)

    def _link(self, cursor: Cursor, found: Found) -> None:
        """Set the addresses of the other pages. After an incomplete scan the next page continues there."""
        ahead, behind = found.next_id, found.ids[0] if found.ids else cursor.start
        if cursor.start is None:
            behind = None
        older, newer = (ahead, behind) if cursor.older else (behind, ahead)
        self.is_incomplete = not found.has_more and found.end is not None
        self.older = self._address(f"{OLDER}{older}") if older is not None else None
        self.newer = self._address(f"{NEWER}{newer}") if newer is not None else None
        self.oldest, self.newest = self._address(LAST), self._address(FIRST)

    def _address(self, page: str | None) -> str:
        return str(self.get_query_string({PAGE_VAR: page}))


def used_by(spec: Any) -> set[str]:
    """Return the parameters of an active filter, but none for a filter by ID."""
    return set() if hasattr(spec, "bounds") else set(spec.used_parameters)
