from django.db import models
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from payments import ids
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.merchants.merchant import ApiKey, Merchant


class ApiRequest(models.Model):
    """One request to the API with a key of ours, as the merchant sees it; written after its answer.

    The table is partitioned by day (`payments.db.partitions`). The ID orders by the moment of the row, because
    requests end in another order than they begin.
    """

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The `Request-Id` of the answer.
    request_id = models.UUIDField()
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    livemode = models.BooleanField()
    api_key = models.ForeignKey(ApiKey, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    method = models.CharField(_("method"), max_length=10)
    # Without query, and with `*` in place of what is neither a word of ours nor an ID.
    path = models.CharField(_("path"), max_length=200)
    status = models.PositiveSmallIntegerField()
    milliseconds = models.PositiveIntegerField()
    # When the request began.
    created_at = models.DateTimeField(_("created at"))
    # What `payments.web.kept_bodies` left of query, body and answer; empty where the merchant has none kept.
    asked = models.TextField(default="")
    answered = models.TextField(default="")

    objects = ScopedQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(F("merchant"), F("livemode"), F("id"), name="request_of_merchant"),
            models.Index(F("request_id"), name="request_by_its_id"),
        ]

    def __str__(self) -> str:
        return ids.public_id("req", self.request_id)
