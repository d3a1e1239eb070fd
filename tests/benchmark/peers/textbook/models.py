from django.conf import settings
from django.db import models

OWNER = settings.AUTH_USER_MODEL


class Source(models.Model):
    """A card that can be charged once, without its number, which the provider keeps."""

    owner = models.ForeignKey(OWNER, models.PROTECT)
    type = models.CharField(max_length=16)
    name = models.CharField(max_length=128)
    brand = models.CharField(max_length=16)
    last4 = models.CharField(max_length=4)
    exp_month = models.CharField(max_length=2)
    exp_year = models.CharField(max_length=4)
    used = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)


class Charge(models.Model):
    class Status(models.TextChoices):
        PENDING = "pending"
        SUCCEEDED = "succeeded"

    # The index below serves it.
    owner = models.ForeignKey(OWNER, models.PROTECT, db_index=False)
    source = models.OneToOneField(Source, models.PROTECT)
    amount = models.PositiveBigIntegerField()
    currency = models.CharField(max_length=3)
    description = models.CharField(max_length=255, blank=True)
    reference = models.CharField(max_length=64, blank=True)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.PENDING)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "-id"], name="charges_of_owner")]


class IdempotencyKey(models.Model):
    owner = models.ForeignKey(OWNER, models.PROTECT, db_index=False)
    key = models.CharField(max_length=255)
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="key_of_owner")]
