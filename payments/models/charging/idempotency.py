from django.db import models
from django.db.models import F
from django.db.models.lookups import Exact, IsNull

from payments import clock, ids
from payments.db.checks import checks
from payments.db.fast_model import FastModel
from payments.db.fields import CompressedField
from payments.models.merchants.merchant import Merchant


class IdempotencyRecord(FastModel):
    """An idempotency key, and the response to its request byte for byte, once there is one."""

    # That of the request which claimed the key.
    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # No constraint: it is the merchant of the request's API key (migrations/sql/merchant_terms.sql).
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    livemode = models.BooleanField()
    key = models.CharField(max_length=255)
    # A keyed digest of method, path and body, because a body may hold a card number.
    fingerprint = models.BinaryField(max_length=32)
    status = models.SmallIntegerField(null=True, blank=True)
    body = CompressedField(null=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(F("merchant"), F("livemode"), F("key"), name="idempotency_key_once_per_mode"),
            *checks(
                idempotency_answer_is_whole=Exact(IsNull(F("status"), True), IsNull(F("body"), True)),
            ),
        ]

    def __str__(self) -> str:
        return self.key
