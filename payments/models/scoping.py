from typing import Any, Self, TypeVar
from uuid import UUID

from django.db import models
from django.db.models import F, Func, Value
from django.db.models.lookups import GreaterThan, LessThan

FIRST_ID, LAST_ID = UUID(int=0), UUID(int=2**128 - 1)

Row = TypeVar("Row", bound=models.Model)


class ScopedQuerySet(models.QuerySet[Row]):
    """The one way by which requests reach rows: those of one merchant in one mode."""

    def of(self, merchant_id: UUID, livemode: bool) -> Self:
        return self.filter(merchant_id=merchant_id, livemode=livemode)

    def newest_page(
        self, merchant_id: UUID, livemode: bool, after: UUID | None, length: int, narrowed: bool = False
    ) -> Self:
        """The newest `length` rows of `of()`, strictly older than the ID `after` where given, newest first.

        `narrowed` tells that the rows are filtered already by something that few of them share and that has an index.
        The IDs are found in a query of their own, because beside joins the planner may rather read and sort all the
        merchant's rows.
        """
        if narrowed:
            found = self.of(merchant_id, livemode).filter(id__lt=after or LAST_ID).order_by("-id")
        else:
            found = self._along_the_index(merchant_id, livemode, after or LAST_ID)
        return self.filter(id__in=found.values("id")[:length]).order_by("-id")

    def _along_the_index(self, merchant_id: UUID, livemode: bool, after: UUID) -> Self:
        """Merchant, mode and ID bounded and ordered together, as one row value.

        Equal signs would tell the planner that ordering by ID alone is enough, and for a merchant that went quiet it
        would walk the primary key backwards past everybody else's rows.
        """
        place = row_value(F("merchant_id"), F("livemode"), F("id"))
        older = LessThan(place, row_value(Value(merchant_id), Value(livemode), Value(after)))
        within = GreaterThan(place, row_value(Value(merchant_id), Value(livemode), Value(FIRST_ID)))
        return self.filter(older, within).order_by("-merchant_id", "-livemode", "-id")


def row_value(*members: Any) -> Func:
    """A row value, which PostgreSQL compares member by member from the left."""
    return Func(*members, function="ROW", output_field=models.BooleanField())
