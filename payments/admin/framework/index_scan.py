"""Finds the rows of one page along an index, so that a page costs the same wherever it is in however long a list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.lookups import GreaterThan, LessThan

from payments.db.scoping import FIRST_ID, LAST_ID, row_value

# So many rows of a road are looked at for one page where a filter may pass over most of them.
SEARCHED_ROWS = 50_000
# Each place is a part of the statement, and more of them than this would cost more than to pass over rows.
MOST_PLACES = 100


@dataclass(frozen=True, slots=True)
class Road:
    """An index that ends with the primary key: its columns before that, and the places at which to enter it.

    `filters` are those, by their parameters, that leave all rows at these places to be shown, or nearly all.
    """

    columns: tuple[str, ...] = ()
    places: tuple[tuple[Any, ...], ...] = ((),)
    filters: frozenset[str] = frozenset()

    @property
    def is_short(self) -> bool:
        return len(self.places) <= MOST_PLACES


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a road: the IDs above `low` and below `high` (None: to its end), and from which side it is walked."""

    road: Road = Road()
    low: Any = None
    high: Any = None
    newest_first: bool = True

    def ids_in(self, rows: QuerySet[Any], length: int, skipped: int = 0) -> list[Any]:
        """The first `length` IDs of `rows` on this stretch, in its order, after `skipped` ones of each place."""
        if not self.road.places:
            return []
        first, *others = (
            self._at(place, rows).values_list("pk", flat=True)[skipped : skipped + length] for place in self.road.places
        )
        found = first.union(*others, all=True) if others else first
        return sorted(found, reverse=self.newest_first)[:length]

    def up_to(self, end: Any) -> "Stretch":
        """The same stretch, no longer than to the ID `end`, which it includes."""
        return replace(self, low=_before(end)) if self.newest_first else replace(self, high=_after(end))

    def _at(self, place: Sequence[Any], rows: QuerySet[Any]) -> QuerySet[Any]:
        order = [*self.road.columns, "pk"]
        return rows.filter(*self._bounds(place)).order_by(
            *(f"-{name}" if self.newest_first else name for name in order)
        )

    def _bounds(self, place: Sequence[Any]) -> Iterator[Any]:
        """The place bounded and ordered together with the ID, lest the planner walks the primary key instead."""
        here = row_value(*map(F, self.road.columns), F("pk"))
        low, high = self.low, self.high
        if self.road.columns:
            low, high = low or FIRST_ID, high or LAST_ID
        if low is not None:
            yield GreaterThan(here, row_value(*map(Value, place), Value(low)))
        if high is not None:
            yield LessThan(here, row_value(*map(Value, place), Value(high)))


def end_of_search(stretch: Stretch, rows: QuerySet[Any]) -> Any:
    """The ID up to which `stretch` may be searched, of those of `rows` (the whole table); None for to its end."""
    ends = stretch.ids_in(rows, 1, SEARCHED_ROWS)
    return ends[0] if ends else None


def _before(pk: Any) -> Any:
    return UUID(int=pk.int - 1) if isinstance(pk, UUID) else pk - 1


def _after(pk: Any) -> Any:
    return UUID(int=pk.int + 1) if isinstance(pk, UUID) else pk + 1
