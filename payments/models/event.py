from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import F, Func

from payments import clock, ids
from payments.models.merchant import ApiKey, Merchant
from payments.models.rows import Row
from payments.models.scoping import LAST_ID, ScopedQuerySet


class EventQuerySet(ScopedQuerySet["Event"]):
    """Events of one merchant in one mode."""

    def _along_the_index(self, merchant_id: UUID, livemode: bool, after: UUID) -> Self:
        """Month by month, the newest first, until the page is full.

        For that it must be known that ordering by ID alone is enough. What is then kept from PostgreSQL is to read all
        months and sort, and to pass over the rows of others: by a condition that holds for each row, but costs so much
        in its eyes (0028_months) that it looks at as few rows as it can.
        """
        dear = Func(F("id"), function="payments_dear", output_field=models.BooleanField())
        rows = self.of(merchant_id, livemode).filter(dear).order_by("-id")
        # Of each month the planner would look up the last ID, to compare it with one that is above all.
        return rows if after == LAST_ID else rows.filter(id__lt=after)


class Event(Row):
    """One change of one object, with the object as it was then; written in the transaction of the change.

    The table lies in months (`parted.py`).
    """

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    livemode = models.BooleanField()
    type = models.CharField(max_length=30)
    object_id = models.UUIDField()
    # From 1 without gaps for each object: the version of the object that this event shows.
    sequence = models.PositiveIntegerField()
    # The bytes that a receiver gets, frozen here once.
    payload = models.BinaryField()
    # The key of the request that made the change, if one did; what receivers get does not name it.
    api_key = models.ForeignKey(
        ApiKey, models.PROTECT, null=True, blank=True, related_name="+", db_constraint=False, db_index=False
    )
    created_at = models.DateTimeField(default=clock.now, editable=False)

    objects = EventQuerySet.as_manager()

    class Meta:
        constraints = [
            # In the database within a month; from one to the next, the guarded version of the object's row keeps it.
            models.UniqueConstraint(F("object_id"), F("sequence"), name="event_sequence_once_per_object"),
        ]
        indexes = [models.Index(F("merchant"), F("livemode"), F("id"), name="event_of_merchant")]

    def __str__(self) -> str:
        return ids.public_id("evt", self.id)
