from django.db import models

from tests.benchmark.peers.textbook.models import OWNER


class Source(models.Model):
    """A way to pay that can be charged once."""

    owner = models.ForeignKey(OWNER, models.PROTECT)
    type = models.CharField(max_length=16)
    redirect = models.JSONField(null=True)
    billing = models.JSONField(null=True)
    vaulted = models.BooleanField(default=False)
    used = models.BooleanField(default=False)
    livemode = models.BooleanField(default=False)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)


class Card(models.Model):
    """The card of a source, without its number, which the provider keeps."""

    source = models.OneToOneField(Source, models.PROTECT)
    name = models.CharField(max_length=128)
    brand = models.CharField(max_length=16)
    last4 = models.CharField(max_length=4)
    exp_month = models.CharField(max_length=2)
    exp_year = models.CharField(max_length=4)
    country = models.CharField(max_length=8, default="unknown")
    funding = models.CharField(max_length=8, default="credit")
    issuing_bank = models.CharField(max_length=64, default="unknown")
    cvc_checked = models.CharField(max_length=16, default="pass")
    checked = models.BooleanField(default=False)


class Charge(models.Model):
    class Status(models.TextChoices):
        PENDING = "pending"
        SUCCEEDED = "succeeded"

    owner = models.ForeignKey(OWNER, models.PROTECT, db_index=False)
    source = models.OneToOneField(Source, models.PROTECT)
    amount = models.PositiveBigIntegerField()
    amount_captured = models.PositiveBigIntegerField(default=0)
    amount_refunded = models.PositiveBigIntegerField(default=0)
    authorized = models.BooleanField(default=False)
    captured = models.BooleanField(default=False)
    currency = models.CharField(max_length=3)
    statement_descriptor = models.CharField(max_length=100, default="SHOP")
    description = models.CharField(max_length=255, blank=True)
    require_auth = models.BooleanField(default=True)
    disputed = models.BooleanField(default=False)
    reference = models.CharField(max_length=64, blank=True)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.PENDING)
    livemode = models.BooleanField(default=False)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "-id"], name="company_charges_of_owner")]


class Refund(models.Model):
    charge = models.ForeignKey(Charge, models.PROTECT, related_name="refunds")
    amount = models.PositiveBigIntegerField()
    reason = models.CharField(max_length=32)
    status = models.CharField(max_length=16)
    created_at = models.DateTimeField(auto_now_add=True)


class LedgerEntry(models.Model):
    charge = models.ForeignKey(Charge, models.PROTECT)
    account = models.CharField(max_length=32)
    amount = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)


class ClaimedKey(models.Model):
    """An idempotency key, which is claimed before the work, and has the answer after it."""

    owner = models.ForeignKey(OWNER, models.PROTECT, db_index=False)
    key = models.CharField(max_length=255)
    request_hash = models.CharField(max_length=64)
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="claimed_key_of_owner")]
