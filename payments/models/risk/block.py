from datetime import datetime
from typing import Self
from uuid import UUID

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from payments import clock, ids
from payments.db.checks import checks
from payments.models.merchants.merchant import Merchant
from payments.models.operators.reasons import NOTE_MAX_LENGTH, SOMETHING_WRITTEN, free_of_secrets

BIN_DIGITS = RegexValidator(r"\A[0-9]{6}\Z", "Give the first six digits of the cards.")


class BlockQuerySet(models.QuerySet["Block"]):
    def in_force(self, now: datetime) -> Self:
        """Return the blocks that are neither lifted nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now), lifted_at=None)

    def bearing_on(self, merchant_id: UUID, livemode: bool, now: datetime) -> Self:
        """Return the blocks in force for one merchant in one mode: its own, and those for all merchants."""
        return self.in_force(now).filter(Q(merchant_id=merchant_id) | Q(merchant_id=None), livemode=livemode)


class Block(models.Model):
    """A block of some charges, put by an operator: they are declined. It is lifted, and never deleted."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # Empty: for all merchants.
    merchant = models.ForeignKey(Merchant, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    livemode = models.BooleanField()
    # One of these: a card by its fingerprint (`card` displays it), all cards with the same first six digits, an e-mail
    # address or its domain ("@a.example"), the address of the program that calls (an IPv6 network).
    fingerprint = models.BinaryField(max_length=32, null=True)
    card = models.CharField(max_length=20, blank=True, default="")
    bin = models.CharField(max_length=6, blank=True, default="", validators=[BIN_DIGITS])
    email = models.CharField(max_length=254, blank=True, default="")
    address = models.CharField(max_length=50, blank=True, default="")
    reason = models.CharField(max_length=NOTE_MAX_LENGTH, validators=[free_of_secrets])
    put_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", db_index=False)
    # Empty: never expires.
    expires_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_because = models.CharField(max_length=NOTE_MAX_LENGTH, blank=True, default="", validators=[free_of_secrets])
    created_at = models.DateTimeField(default=clock.now, editable=False)

    objects = BlockQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        permissions = [
            ("put_block", "Can block cards, e-mail addresses and addresses"),
            ("lift_block", "Can lift blocks"),
        ]
        constraints = checks(
            block_is_of_one_thing=Q(fingerprint__isnull=False, bin="", email="", address="") & ~Q(card="")
            | Q(fingerprint__isnull=True, card="", email="", address="") & ~Q(bin="")
            | Q(fingerprint__isnull=True, card="", bin="", address="") & ~Q(email="")
            | Q(fingerprint__isnull=True, card="", bin="", email="") & ~Q(address=""),
            block_email_in_lower_case=Q(email=Lower("email")),
            block_has_a_reason=Q(reason__regex=SOMETHING_WRITTEN),
            block_lifted_whole=Q(lifted_at__isnull=True, lifted_by__isnull=True, lifted_because="")
            | Q(
                lifted_at__isnull=False,
                lifted_by__isnull=False,
                lifted_because__regex=SOMETHING_WRITTEN,
            ),
        )
        indexes = [
            models.Index(
                F("fingerprint"), name="block_of_card", condition=Q(lifted_at__isnull=True, fingerprint__isnull=False)
            ),
            models.Index(F("bin"), name="block_of_bin", condition=Q(lifted_at__isnull=True) & ~Q(bin="")),
            models.Index(F("email"), name="block_of_email", condition=Q(lifted_at__isnull=True) & ~Q(email="")),
            models.Index(F("address"), name="block_of_address", condition=Q(lifted_at__isnull=True) & ~Q(address="")),
        ]

    def __str__(self) -> str:
        if self.bin:
            return f"cards {self.bin}…"
        return self.card or self.email or f"calls from {self.address}"
