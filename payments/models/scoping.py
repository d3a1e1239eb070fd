from typing import Any, Self, TypeVar, cast
from uuid import UUID

from django.db import models

FIRST_ID, LAST_ID = UUID(int=0), UUID(int=2**128 - 1)

Row = TypeVar("Row", bound=models.Model)


class ScopedQuerySet(models.QuerySet[Row]):
    """The one way by which requests reach rows: those of one merchant in one mode."""

    def of(self, merchant_id: UUID, livemode: bool) -> Self:
        return self.filter(merchant_id=merchant_id, livemode=livemode)

    def newest_first(self, merchant_id: UUID, livemode: bool, after: UUID | None = None) -> Self:
        """A keyset page of `of()`, newest first, strictly older than the ID `after` where given.

        Merchant, mode and ID are bounded and ordered together, as one row value. Equal signs would tell the planner
        that ordering by ID alone is enough, and for a merchant that went quiet it would walk the primary key
        backwards past everybody else's rows.
        """
        table = self.model._meta.db_table
        row = f'("{table}"."merchant_id", "{table}"."livemode", "{table}"."id")'
        bounds: dict[str, Any] = {
            "where": [f"{row} < (%s, %s, %s)", f"{row} > (%s, %s, %s)"],
            "params": [merchant_id, livemode, after or LAST_ID, merchant_id, livemode, FIRST_ID],
        }
        return cast("Self", self.order_by("-merchant_id", "-livemode", "-id").extra(**bounds))
