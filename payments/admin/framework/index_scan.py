"""Index scans that find the rows of one page, at the same cost anywhere in a list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.lookups import GreaterThan, LessThan

from payments.db.scoped_queryset import FIRST_ID, LAST_ID, row_value

# The most rows of an index read for one page where a filter may skip most of them.
SEARCHED_ROWS = 50_000
# Each prefix is a part of the statement; above this number, skipping rows is cheaper.
MAX_PREFIXES = 100


@dataclass(frozen=True, slots=True)
class IndexPath:
    """An index that ends with the primary key: its leading columns, and the values at which to enter it.

    `filters` names the parameters of the filters that this index covers, or nearly covers.
    """

    columns: tuple[str, ...] = ()
    prefixes: tuple[tuple[Any, ...], ...] = ((),)
    filters: frozenset[str] = frozenset()

    @property
    def has_few_prefixes(self) -> bool:
        return len(self.prefixes) <= MAX_PREFIXES


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A part of an index: the IDs above `low` and below `high` (None is open), and the direction of the scan."""

    path: IndexPath = IndexPath()
    low: Any = None
    high: Any = None
    newest_first: bool = True

    def ids_in(self, rows: QuerySet[Any], length: int, skipped: int = 0) -> list[Any]:
        """Return the first `length` IDs of `rows` in this range, after skipping `skipped` of each prefix."""
        if not self.path.prefixes:
            return []
        first, *others = (
            self._rows_at(prefix, rows).values_list("pk", flat=True)[skipped : skipped + length]
            for prefix in self.path.prefixes
        )
        found = first.union(*others, all=True) if others else first
        return sorted(found, reverse=self.newest_first)[:length]

    def up_to(self, end: Any) -> "KeyRange":
        """Return this range, cut after the ID `end`."""
        step = -1 if self.newest_first else 1
        bound = UUID(int=end.int + step) if isinstance(end, UUID) else end + step
        return replace(self, low=bound) if self.newest_first else replace(self, high=bound)

    def _rows_at(self, prefix: Sequence[Any], rows: QuerySet[Any]) -> QuerySet[Any]:
        order = [*self.path.columns, "pk"]
        return rows.filter(*self._bounds(prefix)).order_by(
            *(f"-{name}" if self.newest_first else name for name in order)
        )

    def _bounds(self, prefix: Sequence[Any]) -> Iterator[Any]:
        """Yield the bounds of a prefix together with the ID, so that the planner uses this index."""
        here = row_value(*map(F, self.path.columns), F("pk"))
        low, high = self.low, self.high
        if self.path.columns:
            low, high = low or FIRST_ID, high or LAST_ID
        if low is not None:
            yield GreaterThan(here, row_value(*map(Value, prefix), Value(low)))
        if high is not None:
            yield LessThan(here, row_value(*map(Value, prefix), Value(high)))


def scan_end(key_range: KeyRange, rows: QuerySet[Any]) -> Any:
    """Return the ID at which a scan of `rows` (the whole table) must stop; None where it may reach the end."""
    ends = key_range.ids_in(rows, 1, SEARCHED_ROWS)
    return ends[0] if ends else None
