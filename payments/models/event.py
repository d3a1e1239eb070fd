from typing import Any, Self
from uuid import UUID

from django.db import models
from django.db.models import F, Func, Subquery, Value
from django.db.models.lookups import GreaterThan, LessThan
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.fast_model import FastModel
from payments.db.fields import CompressedField
from payments.db.scoped_queryset import ScopedQuerySet, row_value
from payments.models.merchants.merchant import ApiKey, Merchant


class EventQuerySet(ScopedQuerySet["Event"]):
    """Events of one merchant in one mode."""

    def newest(self, merchant_id: UUID, livemode: bool, after: UUID | None, length: int, **type_only: str) -> Self:
        """Return the newest `length` events older than the ID `after`, of all types or one.

        The query orders by ID alone, so that PostgreSQL reads one month after the other. So that it does not walk past
        other merchants' rows instead, a condition that is always true but has a high planner cost
        (migrations/sql/events.sql) makes it look at as few rows as possible.
        """
        dear = Func(F("id"), function="payments_dear", output_field=models.BooleanField())
        rows = self.of(merchant_id, livemode).filter(dear, **type_only).order_by("-id")
        # Without a bound, because the planner would look up the last ID of each month to compare it.
        found = rows if after is None else rows.filter(id__lt=after)
        # The rows are small, so the planner would read a whole month rather than look up a page's.
        return self.filter(dear, merchant_id=merchant_id, id__in=found.values("id")[:length]).order_by("-id")

    def newest_of_object(self, object_id: UUID, after: UUID | None, length: int) -> Self:
        """Return the newest `length` of these events of one object that are older than its event `after`."""
        last: Any = Value(2**31 - 1)
        if after is not None:
            last = Subquery(self.filter(id=after).values("sequence"))
        place = row_value(F("object_id"), F("sequence"))
        older = LessThan(place, row_value(Value(object_id), last))
        within = GreaterThan(place, row_value(Value(object_id), Value(0)))
        found = self.filter(older, within).order_by("-object_id", "-sequence").values("id")[:length]
        return self.filter(id__in=found).order_by("-sequence")


class Event(FastModel):
    """One change of one object, with the object after it; written in the transaction of the change.

    The table is partitioned by month (`payments.db.partitions`).
    """

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    livemode = models.BooleanField()
    type = models.CharField(_("type"), max_length=30)
    object_id = models.UUIDField()
    # The version of the object that this event shows, from 1 without gaps; a merchant's is counted in each mode.
    sequence = models.PositiveIntegerField(_("sequence"))
    # The bytes that a webhook receiver gets.
    payload = CompressedField()
    # The request that made the change, and its API key, if any; the key is not in the payload.
    request_id = models.UUIDField(null=True, blank=True)
    api_key = models.ForeignKey(
        ApiKey, models.PROTECT, null=True, blank=True, related_name="+", db_constraint=False, db_index=False
    )
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)

    objects = EventQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("event"), _("events")
        constraints = [
            # PostgreSQL enforces it within a month; across months the guarded version of the object's row does.
            models.UniqueConstraint(
                F("object_id"), F("sequence"), F("livemode"), name="event_sequence_once_per_object"
            ),
        ]
        indexes = [
            models.Index(F("merchant"), F("livemode"), F("id"), name="event_of_merchant"),
            models.Index(F("merchant"), F("livemode"), F("type"), F("id"), name="event_of_type"),
        ]

    __str__ = ids.shown_as("evt")
