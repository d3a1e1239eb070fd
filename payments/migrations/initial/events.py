"""Create events, webhooks and their tries by months and the log of requests by days, in partitions; messages to payers."""

import payments.clock
import payments.db.fields
import payments.ids
from django.db import migrations, models
from django.db.models import F, Q

from datetime import UTC, datetime, timedelta

from payments.migrations.initial import run_sql

# Later ones are made by `payments.db.partitions`, which may change; these stay what they were.
FIRST_PART = """
CREATE TABLE {part} (LIKE {table} INCLUDING CONSTRAINTS) WITH (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_limit = 1000
);
{unique}
ALTER TABLE {table} ATTACH PARTITION {part} FOR VALUES FROM (MINVALUE) TO ('{end}');
"""
UNIQUE = "CREATE UNIQUE INDEX {part}_{name}_key ON {part} ({columns});"


def make_first_months(apps, schema_editor):
    """Make the month of today for each table; it holds all that is older too."""
    month = datetime.now(UTC).replace(day=1)
    next_month = (month + timedelta(days=31)).replace(day=1)
    _make_first(schema_editor, "payments_webhook", f"{month:%Y_%m}", next_month, "event_id, endpoint_id")
    _make_first(schema_editor, "payments_webhookattempt", f"{month:%Y_%m}", next_month)
    _make_first(schema_editor, "payments_event", f"{month:%Y_%m}", next_month, "object_id, sequence, livemode")


def make_first_day(apps, schema_editor):
    """Make the day of today; it holds all that is older too."""
    day = datetime.now(UTC)
    _make_first(schema_editor, "payments_apirequest", f"{day:%Y_%m_%d}", day + timedelta(days=1))


def _make_first(schema_editor, table, name, end, columns=""):
    """Make the first part of a table, which ends before the first UUIDv7 of the day `end`."""
    midnight = end.replace(hour=0, minute=0, second=0, microsecond=0)
    lowest = f"{int(midnight.timestamp() * 1000):012x}".ljust(32, "0")
    part = f"{table}_{name}"
    unique = UNIQUE.format(part=part, name=columns.replace(", ", "_"), columns=columns) if columns else ""
    schema_editor.execute(FIRST_PART.format(part=part, table=table, unique=unique, end=lowest), params=None)


OPERATIONS = [
    run_sql("events"),
    migrations.SeparateDatabaseAndState(
        state_operations=[
            migrations.CreateModel(
                name="Event",
                fields=[
                    ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                    ("livemode", models.BooleanField()),
                    ("type", models.CharField(max_length=30, verbose_name="type")),
                    ("object_id", models.UUIDField()),
                    ("sequence", models.PositiveIntegerField(verbose_name="sequence")),
                    ("payload", payments.db.fields.CompressedField()),
                    ("request_id", models.UUIDField(blank=True, null=True)),
                    ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
                    ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
                    ("api_key", models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.apikey")),
                ],
                options={
                    "verbose_name": "event", "verbose_name_plural": "events",
                    "indexes": [
                        models.Index(F("merchant"), F("livemode"), F("id"), name="event_of_merchant"),
                        models.Index(F("merchant"), F("livemode"), F("type"), F("id"), name="event_of_type"),
                    ],
                    "constraints": [
                        models.UniqueConstraint(F("object_id"), F("sequence"), F("livemode"), name="event_sequence_once_per_object"),
                    ],
                },
            ),
            migrations.CreateModel(
                name="Webhook",
                fields=[
                    ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                    ("livemode", models.BooleanField()),
                    ("url", models.CharField(max_length=2083, verbose_name="url")),
                    ("receiver", models.CharField(db_collation="C", max_length=300, verbose_name="receiver")),
                    ("state", models.CharField(choices=[("waiting", "Waiting"), ("delivered", "Delivered"), ("exhausted", "Exhausted"), ("gone", "Gone"), ("cancelled", "Cancelled")], default="waiting", max_length=9, verbose_name="state")),
                    ("tries", models.PositiveIntegerField(default=0, verbose_name="tries")),
                    ("failures", models.PositiveIntegerField(default=0, verbose_name="failures")),
                    ("first_try_at", models.DateTimeField(blank=True, null=True)),
                    ("due_at", models.DateTimeField(blank=True, default=payments.clock.now, null=True)),
                    ("leased_until", models.DateTimeField(blank=True, null=True)),
                    ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
                    ("event", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="webhooks", to="payments.event")),
                    ("endpoint", models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.webhookendpoint")),
                    ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
                ],
                options={
                    "verbose_name": "webhook", "verbose_name_plural": "webhooks",
                    "indexes": [
                        models.Index(F("merchant"), F("livemode"), F("id"), name="webhook_of_merchant"),
                        models.Index(F("id"), condition=Q(("state__in", ["exhausted", "gone"])), name="webhook_given_up"),
                        models.Index(F("merchant"), F("livemode"), F("receiver"), F("due_at"), F("id"), condition=Q(("due_at__isnull", False)), name="webhook_due_of_receiver"),
                    ],
                    "constraints": [
                        models.CheckConstraint(
                            condition=Q(
                                Q(("due_at__isnull", False), ("state", "waiting")),
                                Q(("due_at__isnull", True), ("leased_until__isnull", True), ("state__in", ["delivered", "exhausted", "gone", "cancelled"])),
                                _connector="OR",
                            ),
                            name="webhook_waiting_has_due_at",
                        ),
                    ],
                },
            ),
            migrations.CreateModel(
                name="WebhookAttempt",
                fields=[
                    ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                    ("number", models.PositiveIntegerField(verbose_name="number")),
                    ("started_at", models.DateTimeField()),
                    ("milliseconds", models.PositiveIntegerField()),
                    ("status", models.PositiveSmallIntegerField(blank=True, null=True)),
                    ("headers", models.TextField(blank=True, default="")),
                    ("answer", models.BinaryField(default=b"", max_length=2048)),
                    ("error", models.CharField(blank=True, default="", max_length=60)),
                    ("reason", models.CharField(blank=True, default="", max_length=200)),
                    ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
                    ("webhook", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="attempts", to="payments.webhook")),
                ],
                options={
                    "verbose_name": "webhook attempt", "verbose_name_plural": "webhook attempts",
                    "constraints": [
                        models.UniqueConstraint(F("webhook"), F("number"), name="attempt_number_once_per_webhook"),
                        models.CheckConstraint(
                            condition=Q(Q(("error", ""), ("status__isnull", False)), Q(("status__isnull", True), Q(("error", ""), _negated=True)), _connector="OR"), name="attempt_was_answered_or_failed"
                        ),
                    ],
                },
            ),
        ]
    ),
    migrations.RunPython(make_first_months),
    run_sql("requests"),
    migrations.SeparateDatabaseAndState(
        state_operations=[
            migrations.CreateModel(
                name="ApiRequest",
                fields=[
                    ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                    ("request_id", models.UUIDField()),
                    ("livemode", models.BooleanField()),
                    ("method", models.CharField(max_length=10, verbose_name="method")),
                    ("path", models.CharField(max_length=200, verbose_name="path")),
                    ("status", models.PositiveSmallIntegerField()),
                    ("milliseconds", models.PositiveIntegerField()),
                    ("created_at", models.DateTimeField(verbose_name="created at")),
                    ("asked", models.TextField(default="")),
                    ("answered", models.TextField(default="")),
                    ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
                    ("api_key", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.apikey")),
                ],
                options={
                    "indexes": [
                        models.Index(F("merchant"), F("livemode"), F("id"), name="request_of_merchant"),
                        models.Index(F("request_id"), name="request_by_its_id"),
                    ],
                },
            ),
        ]
    ),
    migrations.RunPython(make_first_day),
    migrations.CreateModel(
        name="PayerMessage",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("kind", models.CharField(max_length=20)),
            ("channel", models.CharField(choices=[("email", "e-mail"), ("sms", "SMS")], default="email", max_length=5, verbose_name="channel")),
            ("about_id", models.UUIDField()),
            ("sequence", models.PositiveIntegerField()),
            ("locale", models.CharField(default="en", max_length=5, verbose_name="locale")),
            ("recipient", models.CharField(blank=True, default="", max_length=254, verbose_name="recipient")),
            ("subject", models.CharField(blank=True, default="", max_length=255, verbose_name="subject")),
            ("text", models.TextField(blank=True, default="")),
            (
                "state",
                models.CharField(
                    choices=[("waiting", "Waiting"), ("sent", "Sent"), ("kept", "Kept"), ("dropped", "Dropped"), ("given_up", "given up")],
                    default="waiting",
                    max_length=8,
                    verbose_name="state",
                ),
            ),
            ("why", models.CharField(blank=True, default="", max_length=100, verbose_name="why")),
            ("tries", models.PositiveSmallIntegerField(default=0, verbose_name="tries")),
            ("due_at", models.DateTimeField(blank=True, default=payments.clock.now, null=True)),
            ("ended_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "verbose_name": "message to a payer",
            "verbose_name_plural": "messages to payers",
            "default_permissions": ("view",),
            "permissions": [("resend_payermessage", "Can send receipts again")],
            "indexes": [
                models.Index(F("channel"), F("merchant"), F("due_at"), condition=Q(("due_at__isnull", False)), name="payer_message_due"),
            ],
            "constraints": [
                models.UniqueConstraint(F("merchant"), F("about_id"), F("kind"), F("channel"), F("sequence"), name="payer_message_once_for_its_cause"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("due_at__isnull", False), ("ended_at__isnull", True), ("state", "waiting")),
                        Q(Q(("state", "waiting"), _negated=True), ("due_at__isnull", True), ("ended_at__isnull", False)),
                        _connector="OR",
                    ),
                    name="payermessage_waiting_is_due",
                ),
                models.CheckConstraint(condition=Q(("channel__in", ["email", "sms"])), name="payer_message_channel_is_known"),
                models.CheckConstraint(
                    condition=Q(("livemode", True), Q(("state", "sent"), _negated=True), _connector="OR"), name="payer_message_of_test_mode_stays"
                ),
            ],
        },
    ),
]
