"""The transparency log: a Merkle tree (RFC 6962) whose leaves are the ledger's journals, and its signed heads.

The database refuses to change or delete a row of the first three (migrations/sql/transparency.sql).
"""

from django.db import models
from django.db.models import F, Q

from payments import clock
from payments.db.checks import checks
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.merchants.merchant import Merchant


class LogLeaf(models.Model):
    """The place of one journal in the log. What is hashed is read from its postings."""

    # From 0 without gaps.
    number = models.BigIntegerField(primary_key=True)
    journal = models.UUIDField(unique=True)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    livemode = models.BooleanField()
    # It keeps the hash of a leaf from saying which charge or payout it is about.
    salt = models.BinaryField(max_length=16)

    objects = ScopedQuerySet["LogLeaf"].as_manager()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"leaf {self.number}"


class LogNode(models.Model):
    """The hash of a whole subtree of 2^level leaves; level 0 are the leaves themselves."""

    # The level above the place in it: `payments.ledger.transparency.tree` makes it.
    id = models.BigIntegerField(primary_key=True)
    hash = models.BinaryField(max_length=32)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return bytes(self.hash).hex()


class LogHead(models.Model):
    """A signed head: the root of the tree of the first `size` leaves at a moment."""

    size = models.BigIntegerField()
    signed_at = models.DateTimeField(default=clock.now)
    # The text that is signed, with its signatures (C2SP, tlog-checkpoint).
    note = models.TextField()

    class Meta:
        default_permissions = ()
        indexes = [models.Index(F("size"), F("id"), name="log_head_of_size")]

    def __str__(self) -> str:
        return f"head of {self.size}"


class LogProgress(models.Model):
    """How far the ledger is in the log: one row, which one worker locks at a time."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    size = models.BigIntegerField(default=0)
    # The first line of the last journal that was read in order; none before the first.
    posting_id = models.UUIDField(null=True)
    # When those that were read past were looked for last.
    looked_at = models.DateTimeField(default=clock.now)

    class Meta:
        default_permissions = ()
        constraints = checks(
            one_log_progress=Q(id=1),
        )

    def __str__(self) -> str:
        return f"{self.size} leaves"
