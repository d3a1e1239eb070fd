"""The audit log: what operators and commands did, entry by entry, each sealed together with all that came before it."""

import hashlib
import json
from functools import reduce
from operator import or_

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from payments import clock

# What the first entry follows.
GENESIS = bytes(hashlib.sha256().digest_size)
# What an entry's hash covers beside the hash before it; to take one away would break every log there is.
COVERED = (
    "number",
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
)
NAME_MAX_LENGTH = 200


class AuditHead(models.Model):
    """The last link of the chain. Whoever adds an entry holds this row until its transaction ends."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    number = models.BigIntegerField(default=0)
    hash = models.BinaryField(max_length=32, default=GENESIS)

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(name="audit_has_one_head", condition=Q(id=1))]

    def __str__(self) -> str:
        return f"head at {self.number}"


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    def about(self, *rows: models.Model) -> "AuditEntryQuerySet":
        """Those that tell of any of `rows`."""
        return self.filter(reduce(or_, (Q(object_type=type_of(row), object_id=str(row.pk)) for row in rows)))


class AuditEntry(models.Model):
    """One act. The database takes it only at the end of the chain, and refuses to change or remove it."""

    # From 1 without gaps.
    number = models.BigIntegerField(primary_key=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    action = models.CharField(max_length=30)
    # The operator, or the account on the machine that ran a command; empty where nobody was signed in.
    actor = models.CharField(max_length=150, blank=True)
    # No foreign key: an operator may be deleted, and what they did may not.
    operator_id = models.BigIntegerField(null=True, blank=True)
    # The address of a request, or the host that a command ran on.
    origin = models.CharField(max_length=NAME_MAX_LENGTH, blank=True)
    request_id = models.CharField(max_length=40, blank=True)
    object_type = models.CharField(max_length=100, blank=True)
    object_id = models.CharField(max_length=NAME_MAX_LENGTH, blank=True)
    # What the object was called then.
    object_name = models.CharField(max_length=NAME_MAX_LENGTH, blank=True)
    # The names of what was changed, never its values.
    fields = ArrayField(models.CharField(max_length=NAME_MAX_LENGTH), default=list, blank=True)
    detail = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    previous_hash = models.BinaryField(max_length=32)
    hash = models.BinaryField(max_length=32, unique=True)

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        verbose_name = "audit entry"
        verbose_name_plural = "audit log"
        default_permissions = ("view",)
        indexes = [
            models.Index(F("object_id"), F("number"), name="audit_of_object"),
            models.Index(F("actor"), F("number"), name="audit_of_actor"),
            models.Index(F("origin"), F("number"), name="audit_of_origin"),
            models.Index(F("request_id"), name="audit_of_request", condition=~Q(request_id="")),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.action}"

    def sealed(self) -> bytes:
        """The hash that this entry must have: the SHA-256 over the hash before it and its own canonical bytes."""
        return hashlib.sha256(bytes(self.previous_hash) + self.canonical()).digest()

    def canonical(self) -> bytes:
        """All that is COVERED, as JSON in UTF-8 with sorted names and without spaces."""
        values = {name: getattr(self, name) for name in COVERED} | {"created_at": clock.iso(self.created_at)}
        return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def type_of(row: models.Model) -> str:
    """What entries call the table of `row`, such as `payments.merchant`."""
    return (row._meta.concrete_model or type(row))._meta.label_lower
