"""The audit log: actions of operators and commands, in a hash chain."""

import hashlib
import json
from functools import reduce
from operator import or_

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from payments import clock
from payments.db.checks import checks
from payments.models.operators.approval_request import ApprovalRequest

# The hash before the first entry.
GENESIS = bytes(hashlib.sha256().digest_size)
# The fields that an entry's hash covers beside the previous hash and the number; to remove one would break every log.
COVERED = (
    "created_at",
    "action",
    "actor",
    "operator_id",
    "origin",
    "request_id",
    "object_type",
    "object_id",
    "object_name",
    "fields",
    "detail",
    "reason",
    "is_notice",
    "merchant_id",
)
NAME_MAX_LENGTH = 200


class AuditHead(models.Model):
    """The head of the chain, locked by the commit of each transaction that added an entry."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    number = models.BigIntegerField(default=0)
    hash = models.BinaryField(max_length=32, default=GENESIS)

    class Meta:
        default_permissions = ()
        constraints = checks(
            audit_has_one_head=Q(id=1),
        )

    def __str__(self) -> str:
        return f"head at {self.number}"


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    def about(self, *rows: models.Model) -> "AuditEntryQuerySet":
        """Return the entries about any of `rows`."""
        return self.filter(reduce(or_, (Q(object_type=type_of(row), object_id=str(row.pk)) for row in rows)))


class AuditEntry(models.Model):
    """One action, written in its transaction. The database refuses to change or delete an entry.

    It links an entry to the end of the chain when that transaction commits, however long it took, so that nobody waits
    for the head of the chain longer than for a commit. Only the transaction itself sees an entry without a number.
    """

    # In the order in which the entries were written.
    id = models.BigAutoField(primary_key=True)
    # From 1 without gaps, in the order in which the transactions were committed.
    number = models.BigIntegerField(unique=True, null=True, editable=False)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    action = models.CharField(max_length=30)
    # The operator, or the system account that ran a command; empty if nobody was signed in.
    actor = models.CharField(max_length=150, blank=True)
    # No foreign key, because an operator may be deleted and the entry may not.
    operator_id = models.BigIntegerField(null=True, blank=True)
    # The address of a request, or the host that a command ran on.
    origin = models.CharField(max_length=NAME_MAX_LENGTH, blank=True)
    request_id = models.CharField(max_length=40, blank=True)
    object_type = models.CharField(max_length=100, blank=True)
    object_id = models.CharField(max_length=NAME_MAX_LENGTH, blank=True)
    # The object's name at that time.
    object_name = models.CharField(max_length=NAME_MAX_LENGTH, blank=True)
    # The names of changed fields. `detail` has what is not secret of their values, before and after.
    fields = ArrayField(models.CharField(max_length=NAME_MAX_LENGTH), default=list, blank=True)
    detail = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    # A change that leads money, data or trust elsewhere: the inbox shows it to others for some days.
    is_notice = models.BooleanField(default=False)
    # Whose change it is; empty where it is of all merchants, and in entries that are no notice.
    merchant_id = models.UUIDField(null=True, blank=True)
    previous_hash = models.BinaryField(max_length=32, null=True)
    # Until the entry is linked, that of its content alone.
    hash = models.BinaryField(max_length=32)

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        verbose_name = "audit log entry"
        verbose_name_plural = "audit log entries"
        default_permissions = ("view",)
        indexes = [
            models.Index(F("object_id"), F("id"), name="audit_of_object"),
            models.Index(F("actor"), F("id"), name="audit_of_actor"),
            models.Index(F("origin"), F("id"), name="audit_of_origin"),
            models.Index(F("request_id"), name="audit_of_request", condition=~Q(request_id="")),
            models.Index(F("created_at"), name="audit_notice", condition=Q(is_notice=True)),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.action}"

    @property
    def object_sort(self) -> str:
        """Return what kind of object it is about; the name of its table where there is no such kind any more."""
        try:
            return str(apps.get_model(self.object_type)._meta.verbose_name)
        except (LookupError, ValueError):
            return self.object_type

    def linked_hash(self) -> bytes:
        """Return the hash that this entry must have: of the previous hash, the number in 8 bytes, and the content's."""
        number = int(self.number or 0).to_bytes(8, "big", signed=True)
        return hashlib.sha256(bytes(self.previous_hash or b"") + number + self.content_hash()).digest()

    def content_hash(self) -> bytes:
        """Return the SHA-256 of the COVERED fields as JSON in UTF-8 with sorted names and without spaces."""
        values = {name: getattr(self, name) for name in COVERED} | {
            "created_at": clock.iso(self.created_at),
            "merchant_id": str(self.merchant_id or ""),
        }
        text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).digest()


def type_of(row: models.Model) -> str:
    """Return the model label of `row`, such as `payments.merchant`; of a request, that of the model that shows it."""
    model = row.shown_as if isinstance(row, ApprovalRequest) else row._meta.concrete_model or type(row)
    return model._meta.label_lower
