from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Value
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan

FIRST_ID, LAST_ID = UUID(int=0), UUID(int=2**128 - 1)

Row = TypeVar("Row", bound=models.Model)


class ScopedQuerySet(models.QuerySet[Row]):
    """Rows of one merchant in one mode: the only way by which requests reach rows."""

    def of(self, merchant_id: UUID, livemode: bool) -> Self:
        """Return the rows of this merchant in this mode."""
        return self.filter(merchant_id=merchant_id, livemode=livemode)

    def newest_page(
        self, paths: Sequence[Mapping[str, Any]], length: int, below: UUID = LAST_ID, above: UUID = FIRST_ID
    ) -> Self:
        """Return the newest `length` rows with the values of one of `paths` and an ID in `above` <= ID < `below`.

        Each path reads at most `length` rows by the index of its columns and the ID. A subquery finds the IDs,
        because with joins the planner may read and sort all rows of the merchant.
        """
        first, *others = (self._along(path, below, above).values("id")[:length] for path in paths)
        found = first.union(*others, all=True).order_by("-id")[:length] if others else first
        return self.filter(is_one_of("id", ArraySubquery(found))).order_by("-id")

    def newer_page(self, path: Mapping[str, Any], length: int, above: UUID, below: UUID) -> Self:
        """Return the oldest `length` rows with the values of `path` and an ID in `above` < ID < `below`, in order."""
        place = row_value(*map(F, path), F("id"))
        newer = GreaterThan(place, row_value(*map(Value, path.values()), Value(above)))
        within = LessThan(place, row_value(*map(Value, path.values()), Value(below)))
        found = self.filter(newer, within).order_by(*path, "id").values("id")[:length]
        return self.filter(is_one_of("id", ArraySubquery(found))).order_by("id")

    def _along(self, path: Mapping[str, Any], below: UUID, above: UUID) -> Self:
        """Bound and order the columns of a path and the ID together, as one row value.

        With equality the planner would order by ID alone, and for a merchant without new rows it would walk the
        primary key backwards past all other merchants' rows.
        """
        place = row_value(*map(F, path), F("id"))
        older = LessThan(place, row_value(*map(Value, path.values()), Value(below)))
        within = GreaterThanOrEqual(place, row_value(*map(Value, path.values()), Value(above)))
        return self.filter(older, within).order_by(*(f"-{name}" for name in path), "-id")


def is_one_of(name: str, ids: ArraySubquery | Sequence[UUID]) -> Func:
    """Return the condition that the column `name` is one of `ids`, an array, for which the driver has one parameter.

    The planner expects ten members of any array. So a plan for all values seems to cost what one for a call's own
    values does, and a statement is planned once for a connection; of a subquery it expects fewer rows where it knows
    the values, and would plan each call anew, which takes longer than to read a page.
    """
    is_read = isinstance(ids, ArraySubquery)
    array = ids if is_read else Value(ids, output_field=ArrayField(models.UUIDField()))
    # The template closes the parenthesis that the joiner opens.
    shape = {"template": "(%(expressions)s))", "arg_joiner": " = ANY ("}
    return Func(F(name), array, **shape, output_field=models.BooleanField())


def row_value(*members: Any) -> Func:
    """Return a row constructor, which PostgreSQL compares member by member from the left."""
    return Func(*members, function="ROW", output_field=models.BooleanField())
