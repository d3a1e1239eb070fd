from django.db import models
from django.db.models import F

from payments import clock, ids
from payments.db.fast_model import FastModel
from payments.models.merchants.merchant import Merchant


class IdempotencyRecord(FastModel):
    """An idempotency key, and the response to its request byte for byte, once there is one."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The index that begins with the merchant serves this foreign key too.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    key = models.CharField(max_length=255)
    # A keyed digest of method, path and body, because a body may hold a card number.
    fingerprint = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    body = models.BinaryField(null=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(F("merchant"), F("livemode"), F("key"), name="idempotency_key_once_per_mode"),
            models.CheckConstraint(
                name="idempotency_answer_is_whole",
                condition=models.Q(status__isnull=True, body__isnull=True)
                | models.Q(status__isnull=False, body__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.key
