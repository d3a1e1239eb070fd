"""Create the audit log, and the cases of operators with their notes."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
from django.conf import settings
import payments.clock
import payments.models.operators.reasons
from django.db import migrations, models
from django.db.models import F, Q

from payments.migrations.initial import run_sql

OPERATIONS = [
    migrations.CreateModel(
        name="AuditEntry",
        fields=[
            ("id", models.BigAutoField(primary_key=True, serialize=False)),
            ("number", models.BigIntegerField(editable=False, null=True, unique=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("action", models.CharField(max_length=30)),
            ("actor", models.CharField(blank=True, max_length=150)),
            ("operator_id", models.BigIntegerField(blank=True, null=True)),
            ("origin", models.CharField(blank=True, max_length=200)),
            ("request_id", models.CharField(blank=True, max_length=40)),
            ("object_type", models.CharField(blank=True, max_length=100)),
            ("object_id", models.CharField(blank=True, max_length=200)),
            ("object_name", models.CharField(blank=True, max_length=200)),
            ("fields", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
            ("detail", models.TextField(blank=True)),
            ("reason", models.TextField(blank=True)),
            ("is_notice", models.BooleanField(default=False)),
            ("merchant_id", models.UUIDField(blank=True, null=True)),
            ("previous_hash", models.BinaryField(max_length=32, null=True)),
            ("hash", models.BinaryField(max_length=32)),
        ],
        options={
            "verbose_name": "audit log entry",
            "verbose_name_plural": "audit log entries",
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("object_id"), F("id"), name="audit_of_object"),
                models.Index(F("actor"), F("id"), name="audit_of_actor"),
                models.Index(F("origin"), F("id"), name="audit_of_origin"),
                models.Index(F("request_id"), condition=Q(("request_id", ""), _negated=True), name="audit_of_request"),
                models.Index(F("created_at"), condition=Q(("is_notice", True)), name="audit_notice"),
            ],
        },
    ),
    migrations.CreateModel(
        name="AuditHead",
        fields=[
            ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
            ("number", models.BigIntegerField(default=0)),
            ("hash", models.BinaryField(default=b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", max_length=32)),
        ],
        options={
            "default_permissions": (),
            "constraints": [
                models.CheckConstraint(condition=Q(("id", 1)), name="audit_has_one_head"),
            ],
        },
    ),
    run_sql("audit"),
    migrations.CreateModel(
        name="Case",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("tags", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=30), blank=True, default=list, size=5)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("charge", models.OneToOneField(blank=True, db_constraint=False, null=True, on_delete=models.PROTECT, related_name="case", to="payments.charge")),
            ("attempt", models.OneToOneField(blank=True, db_constraint=False, null=True, on_delete=models.PROTECT, related_name="case", to="payments.attempt")),
            ("item", models.OneToOneField(blank=True, db_constraint=False, null=True, on_delete=models.PROTECT, related_name="case", to="payments.reconciliationitem")),
            ("merchant", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("assignee", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="cases", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "default_permissions": ("view", "change"),
            "indexes": [django.contrib.postgres.indexes.GinIndex(F("tags"), name="case_tags")],
            "constraints": [
                models.CheckConstraint(
                    condition=Q(
                        Q(("attempt__isnull", True), ("charge__isnull", False), ("item__isnull", True)),
                        Q(("attempt__isnull", False), ("charge__isnull", True), ("item__isnull", True)),
                        Q(("attempt__isnull", True), ("charge__isnull", True), ("item__isnull", False)),
                        _connector="OR",
                    ),
                    name="case_has_one_subject",
                ),
                models.CheckConstraint(condition=Q(("tags__len__lte", 5)), name="case_has_few_tags"),
            ],
        },
    ),
    migrations.CreateModel(
        name="Note",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("text", models.CharField(max_length=1000, validators=[payments.models.operators.reasons.free_of_secrets])),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("author", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("case", models.ForeignKey(on_delete=models.PROTECT, related_name="notes", to="payments.case")),
        ],
        options={
            "default_permissions": (),
            "constraints": [models.CheckConstraint(condition=Q(("text__regex", "\\S")), name="note_is_not_empty")],
        },
    ),
]
