"""Create disputes and their evidence."""

import payments.clock
import payments.ids
from django.db import migrations, models
from django.db.models import F, Q

OPERATIONS = [
    migrations.CreateModel(
        name="Dispute",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("provider_ref", models.CharField(max_length=255)),
            ("network_ref", models.CharField(blank=True, default="", max_length=255, verbose_name="network ref")),
            ("amount", models.BigIntegerField()),
            ("currency", models.CharField(max_length=3)),
            ("amount_withdrawn", models.BigIntegerField(default=0)),
            ("stage_amounts", models.JSONField(default=dict)),
            ("fee", models.BigIntegerField(default=0)),
            ("reason", models.CharField(max_length=30)),
            ("network_code", models.CharField(blank=True, default="", max_length=40, verbose_name="network code")),
            ("stage", models.PositiveSmallIntegerField()),
            ("money_stage", models.PositiveSmallIntegerField(default=0)),
            (
                "status",
                models.CharField(
                    choices=[
                        ("warning", "Warning"),
                        ("needs_response", "Needs response"),
                        ("under_review", "Under review"),
                        ("won", "Won"),
                        ("lost", "Lost"),
                        ("accepted", "Accepted"),
                        ("expired", "Expired"),
                    ],
                    max_length=14,
                ),
            ),
            ("withdrawn", models.BooleanField()),
            ("evidence_due_at", models.DateTimeField(blank=True, null=True)),
            (
                "response",
                models.CharField(blank=True, choices=[("evidence", "evidence"), ("accept", "accept")], default="", max_length=8, verbose_name="response"),
            ),
            (
                "response_state",
                models.CharField(
                    blank=True, choices=[("pending", "Pending"), ("sent", "Sent"), ("refused", "Refused"), ("unknown", "Unknown")], default="", max_length=7
                ),
            ),
            ("responded_at", models.DateTimeField(blank=True, null=True)),
            ("response_due_at", models.DateTimeField(blank=True, null=True)),
            ("response_tries", models.PositiveSmallIntegerField(default=0)),
            ("response_why", models.CharField(blank=True, default="", max_length=300)),
            ("version", models.PositiveIntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("charge", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="disputes", to="payments.charge")),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "verbose_name": "dispute", "verbose_name_plural": "disputes",
            "default_permissions": ("view",),
            "permissions": [
                ("respond_dispute", "Can add and submit evidence"),
                ("accept_dispute", "Can accept the loss of disputes"),
            ],
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("id"), name="dispute_of_merchant"),
                models.Index(F("merchant"), F("livemode"), F("status"), F("id"), name="dispute_in_status"),
                models.Index(F("evidence_due_at"), F("id"), condition=Q(("status__in", ["warning", "needs_response"])), name="dispute_to_answer"),
                models.Index(F("response_due_at"), condition=Q(("response_due_at__isnull", False)), name="dispute_response_due"),
            ],
            "constraints": [
                models.UniqueConstraint(F("charge"), F("provider_ref"), name="dispute_once_per_charge"),
                models.CheckConstraint(condition=Q(("amount__gte", 1), ("amount_withdrawn__gte", 0), ("fee__gte", 0)), name="dispute_amount_positive"),
                models.CheckConstraint(condition=Q(("withdrawn", True), ("amount_withdrawn", 0), _connector="OR"), name="dispute_money_is_withdrawn"),
                models.CheckConstraint(
                    condition=Q(Q(("status", "warning"), ("withdrawn", False)), Q(("status", "lost"), ("withdrawn", True)), ("status__in", ["needs_response", "under_review", "won", "accepted", "expired"]), _connector="OR"),
                    name="dispute_money_follows_status",
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(("responded_at__isnull", True), ("response", ""), ("response_state", "")),
                        Q(("responded_at__isnull", False), ("response__in", ["evidence", "accept"]), ("response_state__in", ["pending", "sent", "refused", "unknown"])),
                        _connector="OR",
                    ),
                    name="dispute_response_is_whole",
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(("response_due_at__isnull", False), ("response_state", "pending")),
                        Q(Q(("response_state", "pending"), _negated=True), ("response_due_at__isnull", True)),
                        _connector="OR",
                    ),
                    name="dispute_pending_response_is_due",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Evidence",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("type", models.CharField(max_length=30)),
            ("content_type", models.CharField(max_length=15)),
            ("size", models.PositiveIntegerField()),
            ("sealed_content", models.BinaryField()),
            ("name", models.CharField(blank=True, default="", max_length=80)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("dispute", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="evidence", to="payments.dispute")),
            (
                "merchant",
                models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant"),
            ),
        ],
        options={
            "verbose_name_plural": "evidence",
            "default_permissions": (),
            "indexes": [
                models.Index(F("created_at"), name="evidence_by_time"),
            ],
            "constraints": [
                models.UniqueConstraint(F("dispute"), F("type"), name="evidence_once_per_type"),
                models.CheckConstraint(condition=Q(("size__gte", 1), ("size__lte", 2097152)), name="evidence_size_in_bounds"),
            ],
        },
    ),
    migrations.CreateModel(
        name="EvidenceSent",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("livemode", models.BooleanField()),
            ("day", models.DateField()),
            ("size", models.PositiveBigIntegerField()),
            (
                "merchant",
                models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant"),
            ),
        ],
        options={
            "default_permissions": (),
            "indexes": [
                models.Index(F("day"), name="evidence_sent_by_day"),
            ],
            "constraints": [
                models.UniqueConstraint(F("merchant"), F("livemode"), F("day"), name="evidence_sent_once_a_day"),
            ],
        },
    ),
]
