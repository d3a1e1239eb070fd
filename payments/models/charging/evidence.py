"""What merchants send to prove that a disputed charge was right; sealed, because it is about their payers."""

from django.db import models
from django.db.models import F, Q

from payments import clock, ids
from payments.db.checks import checks
from payments.db.fast_model import FastModel
from payments.db.fields import OwnForeignKey
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.charging.dispute import Dispute
from payments.models.merchants.merchant import Merchant

SIZE_MAX = 2 * 1024 * 1024
TEXT_MAX_LENGTH = 20_000
NAME_MAX_LENGTH = 80
# White space, and characters that no page shows.
BLANK = r"\s\x00-\x1F\x7F-\x9F\u00AD\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\u2800\u3164\uFEFF"
# A text with anything to read.
READABLE = rf"^[\s\S]*[^{BLANK}][\s\S]*"
NOTHING_TO_READ = "This text holds nothing but blanks. Say why the charge was right, or send a file."
# The first bytes of the files that networks take.
SIGNATURES = {b"%PDF-": "application/pdf", b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


def content_type_of(content: bytes) -> str | None:
    """Return the type of a file by its first bytes; None for one that is no evidence."""
    return next((type_ for signature, type_ in SIGNATURES.items() if content.startswith(signature)), None)


class Evidence(FastModel):
    """One piece of evidence, a text or a file; a further one of its type replaces it until it is submitted."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # No constraint: the dispute's own foreign key proves that the merchant exists.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    livemode = models.BooleanField()
    # The unique constraint begins with it.
    dispute = OwnForeignKey(Dispute, models.PROTECT, related_name="evidence", db_index=False)
    type = models.CharField(max_length=30)
    content_type = models.CharField(max_length=15)
    # Of the text or the file, in bytes.
    size = models.PositiveIntegerField()
    sealed_content = models.BinaryField()
    # Of the file, as who chose it called it; empty for a text and for what a program sent.
    name = models.CharField(max_length=NAME_MAX_LENGTH, blank=True, default="")
    created_at = models.DateTimeField(default=clock.now, editable=False)

    objects = ScopedQuerySet["Evidence"].as_manager()

    class Meta:
        default_permissions = ()
        verbose_name_plural = "evidence"
        constraints = [
            models.UniqueConstraint(F("dispute"), F("type"), name="evidence_once_per_type"),
            *checks(
                evidence_size_in_bounds=Q(size__gte=1, size__lte=SIZE_MAX),
            ),
        ]
        indexes = [
            models.Index(F("created_at"), name="evidence_by_time"),
        ]

    __str__ = ids.shown_as("ev")


class EvidenceSent(models.Model):
    """How many bytes of evidence were sent for a merchant on a day (UTC), those of replaced pieces included."""

    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    livemode = models.BooleanField()
    day = models.DateField()
    size = models.PositiveBigIntegerField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(F("merchant"), F("livemode"), F("day"), name="evidence_sent_once_a_day"),
        ]
        indexes = [models.Index(F("day"), name="evidence_sent_by_day")]

    def __str__(self) -> str:
        return f"{self.size} bytes on {self.day}"
