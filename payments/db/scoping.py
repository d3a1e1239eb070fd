from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar
from uuid import UUID

from django.db import models
from django.db.models import F, Func, Value
from django.db.models.lookups import GreaterThanOrEqual, LessThan

FIRST_ID, LAST_ID = UUID(int=0), UUID(int=2**128 - 1)

Row = TypeVar("Row", bound=models.Model)


class ScopedQuerySet(models.QuerySet[Row]):
    """The one way by which requests reach rows: those of one merchant in one mode."""

    def of(self, merchant_id: UUID, livemode: bool) -> Self:
        return self.filter(merchant_id=merchant_id, livemode=livemode)

    def newest_page(
        self, paths: Sequence[Mapping[str, Any]], length: int, below: UUID = LAST_ID, above: UUID = FIRST_ID
    ) -> Self:
        """Return the newest `length` rows with the values of one of `paths` and an ID in `above` <= ID < `below`.

        Of each path at most `length` rows are looked for, by the index of the columns of the path and the ID.
        The IDs are found in a query of their own, because beside joins the planner may rather read and sort all the
        merchant's rows.
        """
        first, *others = (self._along(path, below, above).values("id")[:length] for path in paths)
        found = first.union(*others, all=True).order_by("-id")[:length] if others else first
        return self.filter(id__in=found).order_by("-id")

    def _along(self, path: Mapping[str, Any], below: UUID, above: UUID) -> Self:
        """Bound and order the columns of a path and the ID together, as one row value.

        Equal signs would tell the planner that ordering by ID alone is enough, and for a merchant that went quiet it
        would walk the primary key backwards past everybody else's rows.
        """
        place = row_value(*map(F, path), F("id"))
        older = LessThan(place, row_value(*map(Value, path.values()), Value(below)))
        within = GreaterThanOrEqual(place, row_value(*map(Value, path.values()), Value(above)))
        return self.filter(older, within).order_by(*(f"-{name}" for name in path), "-id")


def row_value(*members: Any) -> Func:
    """A row value, which PostgreSQL compares member by member from the left."""
    return Func(*members, function="ROW", output_field=models.BooleanField())
