"""Create the audit log."""

import django.contrib.postgres.fields
import payments.clock
from django.db import migrations, models
from django.db.models import F, Q

from payments.migrations.initial import run_sql

OPERATIONS = [
    migrations.CreateModel(
        name="AuditEntry",
        fields=[
            ("number", models.BigIntegerField(primary_key=True, serialize=False)),
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
            ("previous_hash", models.BinaryField(max_length=32)),
            ("hash", models.BinaryField(max_length=32, unique=True)),
        ],
        options={
            "verbose_name": "audit entry",
            "verbose_name_plural": "audit log",
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("object_id"), F("number"), name="audit_of_object"),
                models.Index(F("actor"), F("number"), name="audit_of_actor"),
                models.Index(F("origin"), F("number"), name="audit_of_origin"),
                models.Index(F("request_id"), condition=Q(("request_id", ""), _negated=True), name="audit_of_request"),
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
]
