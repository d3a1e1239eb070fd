from typing import Any, Self
from uuid import UUID

from django.db import models
from django.db.models import F, Func, Subquery, Value
from django.db.models.lookups import GreaterThan, LessThan

from payments import clock, ids
from payments.db.new_rows import Row
from payments.db.scoping import ScopedQuerySet, row_value
from payments.models.merchant import ApiKey, Merchant


class EventQuerySet(ScopedQuerySet["Event"]):
    """Events of one merchant in one mode."""

    def newest(self, merchant_id: UUID, livemode: bool, after: UUID | None, length: int, **type_only: str) -> Self:
        """Return the newest `length` events older than the ID `after`, of all types or one: month by month.

        For that it must be known that ordering by ID alone is enough. What is then kept from PostgreSQL is to read all
        months and sort, and to pass over the rows of others: by a condition that holds for each row, but costs so much
        in its eyes (migrations/sql/events.sql) that it looks at as few rows as it can.
        """
        dear = Func(F("id"), function="payments_dear", output_field=models.BooleanField())
        rows = self.of(merchant_id, livemode).filter(dear, **type_only).order_by("-id")
        # Of each month the planner would look up the last ID, to compare it with one that is above all.
        found = rows if after is None else rows.filter(id__lt=after)
        return self.filter(id__in=found.values("id")[:length]).order_by("-id")

    def newest_of_object(self, object_id: UUID, after: UUID | None, length: int) -> Self:
        """Return the newest `length` of these events of one object that are older than its event `after`."""
        last: Any = Value(2**31 - 1)
        if after is not None:
            last = Subquery(Event.objects.filter(id=after).values("sequence"))
        place = row_value(F("object_id"), F("sequence"))
        older = LessThan(place, row_value(Value(object_id), last))
        within = GreaterThan(place, row_value(Value(object_id), Value(0)))
        found = self.filter(older, within).order_by("-object_id", "-sequence").values("id")[:length]
        return self.filter(id__in=found).order_by("-sequence")


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
        indexes = [
            models.Index(F("merchant"), F("livemode"), F("id"), name="event_of_merchant"),
            models.Index(F("merchant"), F("livemode"), F("type"), F("id"), name="event_of_type"),
        ]

    def __str__(self) -> str:
        return ids.public_id("evt", self.id)
