from django.db import models
from django.db.models import F

from payments import clock, ids
from payments.models.merchant import ApiKey, Merchant
from payments.models.rows import Row
from payments.models.scoping import ScopedQuerySet


class EventQuerySet(ScopedQuerySet["Event"]):
    """Events of one merchant in one mode."""


class Event(Row):
    """One change of one object, with the object as it was then; written in the transaction of the change."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
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
            models.UniqueConstraint(F("object_id"), F("sequence"), name="event_sequence_once_per_object"),
        ]
        indexes = [models.Index(F("merchant"), F("livemode"), F("id"), name="event_of_merchant")]

    def __str__(self) -> str:
        return ids.public_id("evt", self.id)
