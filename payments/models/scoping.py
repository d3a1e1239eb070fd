from typing import Any, Self, TypeVar, cast
from uuid import UUID

from django.db import models

Row = TypeVar("Row", bound=models.Model)


class ScopedQuerySet(models.QuerySet[Row]):
    """The one way by which requests reach rows: those of one merchant in one mode."""

    def of(self, merchant_id: UUID, livemode: bool) -> Self:
        return self.filter(merchant_id=merchant_id, livemode=livemode)

    def newest_first(self, merchant_id: UUID, livemode: bool, after: UUID | None = None) -> Self:
        """A keyset page of `of()`, newest first, strictly older than the ID `after` where given.

        The bound is stated twice. As a row value, because with separate conditions the planner walks the primary key
        backwards past everybody else's rows to reach a merchant that went quiet. And on the ID alone, because beside
        conditions on merchant and mode a row value is no place to start from: the index would be read from the
        merchant's newest row on, so that each page took longer than the one before.
        """
        rows = self.of(merchant_id, livemode).order_by("-merchant_id", "-livemode", "-id")
        if after is None:
            return rows
        table = self.model._meta.db_table
        bound: dict[str, Any] = {
            "where": [f'("{table}"."merchant_id", "{table}"."livemode", "{table}"."id") < (%s, %s, %s)'],
            "params": [merchant_id, livemode, after],
        }
        return cast("Self", rows.filter(id__lt=after).extra(**bound))
