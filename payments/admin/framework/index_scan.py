"""Index scans that find the rows of one page, at the same cost anywhere in a list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.lookups import GreaterThan, LessThan

from payments.db.scoped_queryset import FIRST_ID, LAST_ID, row_value

# The most rows of an index read for one page where a filter may skip most of them.
SEARCHED_ROWS = 50_000
# Each prefix is a part of the statement; above this number, skipping rows is cheaper.
MAX_PREFIXES = 100
# The columns after a prefix by which an index sorts, with the values below and above all others.
BY_KEY = ("pk",)
BY_HOLD_END = ("hold_expires_at", "pk")
ENDS = {
    BY_KEY: ((FIRST_ID,), (LAST_ID,)),
    BY_HOLD_END: ((datetime.min.replace(tzinfo=UTC), FIRST_ID), (datetime.max.replace(tzinfo=UTC), LAST_ID)),
}


@dataclass(frozen=True, slots=True)
class IndexPath:
    """An index that ends with the primary key: its leading columns, and the values at which to enter it.

    `filters` names the parameters of the filters that this index covers, or nearly covers; it sorts by `order`, and has
    no row without these values.
    """

    columns: tuple[str, ...] = ()
    prefixes: tuple[tuple[Any, ...], ...] = ((),)
    filters: frozenset[str] = frozenset()
    order: tuple[str, ...] = BY_KEY

    @property
    def has_few_prefixes(self) -> bool:
        return len(self.prefixes) <= MAX_PREFIXES


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A part of an index: the places above `low` and below `high` (None is open), and the direction of the scan.

    The place of a row is its values of the path's order.
    """

    path: IndexPath = IndexPath()
    low: tuple[Any, ...] | None = None
    high: tuple[Any, ...] | None = None
    newest_first: bool = True

    def places_in(self, rows: QuerySet[Any], length: int, skipped: int = 0) -> list[tuple[Any, ...]]:
        """Return the places of the first `length` of `rows` in this range, after skipping `skipped` of each prefix."""
        if not self.path.prefixes:
            return []
        first, *others = (
            self._rows_at(prefix, rows).values_list(*self.path.order)[skipped : skipped + length]
            for prefix in self.path.prefixes
        )
        found = first.union(*others, all=True) if others else first
        return sorted(found, reverse=self.newest_first)[:length]

    def up_to(self, end: tuple[Any, ...]) -> "KeyRange":
        """Return this range, cut after the place `end`."""
        step, pk = -1 if self.newest_first else 1, end[-1]
        bound = (*end[:-1], UUID(int=pk.int + step) if isinstance(pk, UUID) else pk + step)
        return replace(self, low=bound) if self.newest_first else replace(self, high=bound)

    def _rows_at(self, prefix: Sequence[Any], rows: QuerySet[Any]) -> QuerySet[Any]:
        order = [*self.path.columns, *self.path.order]
        with_values = {f"{name}__isnull": False for name in self.path.order if name != "pk"}
        return rows.filter(*self._bounds(prefix), **with_values).order_by(
            *(f"-{name}" if self.newest_first else name for name in order)
        )

    def _bounds(self, prefix: Sequence[Any]) -> Iterator[Any]:
        """Yield the bounds of a prefix together with the place, so that the planner uses this index."""
        here = row_value(*map(F, (*self.path.columns, *self.path.order)))
        first, last = ENDS[self.path.order] if self.path.columns else (None, None)
        if low := self.low or first:
            yield GreaterThan(here, row_value(*map(Value, (*prefix, *low))))
        if high := self.high or last:
            yield LessThan(here, row_value(*map(Value, (*prefix, *high))))


def scan_end(key_range: KeyRange, rows: QuerySet[Any]) -> Any:
    """Return the place at which a scan of `rows` (the whole table) must stop; None where it may reach the end."""
    ends = key_range.places_in(rows, 1, SEARCHED_ROWS)
    return ends[0] if ends else None
