from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from payments import clock
from payments.db.checks import checks
from payments.models.charging.attempt import Attempt
from payments.models.charging.charge import Charge
from payments.models.merchants.merchant import Merchant
from payments.models.operators.reasons import SOMETHING_WRITTEN, free_of_secrets

TAGS_MAX = 5
TAG_MAX_LENGTH = 30
CASE_NOTE_MAX_LENGTH = 1000


class Case(models.Model):
    """The operators' work on a charge, an unknown outcome or a reconciliation item: assignee, tags and notes."""

    # No constraints: their checks would lock busy rows, which are never deleted.
    charge = models.OneToOneField(
        Charge, models.PROTECT, null=True, blank=True, related_name="case", db_constraint=False
    )
    attempt = models.OneToOneField(
        Attempt, models.PROTECT, null=True, blank=True, related_name="case", db_constraint=False
    )
    item = models.OneToOneField(
        "payments.ReconciliationItem", models.PROTECT, null=True, blank=True, related_name="case", db_constraint=False
    )
    # None for an item that belongs to no charge of ours.
    merchant = models.ForeignKey(Merchant, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    assignee = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="cases")
    tags = ArrayField(models.CharField(max_length=TAG_MAX_LENGTH), default=list, blank=True, size=TAGS_MAX)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ("view", "change")
        constraints = checks(
            case_has_one_subject=Q(charge__isnull=False, attempt__isnull=True, item__isnull=True)
            | Q(charge__isnull=True, attempt__isnull=False, item__isnull=True)
            | Q(charge__isnull=True, attempt__isnull=True, item__isnull=False),
            case_has_few_tags=Q(tags__len__lte=TAGS_MAX),
        )
        indexes = [GinIndex(F("tags"), name="case_tags")]

    def __str__(self) -> str:
        return f"case {self.pk}"

    @property
    def subject(self) -> Any:
        return self.charge or self.attempt or self.item


class Note(models.Model):
    """A note of an operator on a case; it is never changed."""

    case = models.ForeignKey(Case, models.PROTECT, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", db_index=False)
    text = models.CharField(max_length=CASE_NOTE_MAX_LENGTH, validators=[free_of_secrets])
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ()
        constraints = checks(
            note_is_not_empty=Q(text__regex=SOMETHING_WRITTEN),
        )

    def __str__(self) -> str:
        return f"note {self.pk}"
