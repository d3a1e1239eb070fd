"""Create the runs, report lines and items of reconciliation."""

import payments.clock
import payments.ids
import payments.models.books.report_upload
import payments.models.operators.reasons
from django.db import migrations, models
from django.db.models import F, Q
from django.conf import settings

OPERATIONS = [
    migrations.CreateModel(
        name="ReconciliationRun",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("provider", models.CharField(max_length=40)),
            ("started_by", models.CharField(choices=[("command", "Command"), ("worker", "Worker"), ("upload", "Upload")], max_length=7)),
            ("file", models.CharField(blank=True, default="", max_length=255)),
            ("covers_from", models.DateTimeField(blank=True, null=True)),
            ("covers_to", models.DateTimeField()),
            ("lines", models.PositiveIntegerField(default=0)),
            ("new_lines", models.PositiveIntegerField(default=0)),
            ("matched", models.PositiveIntegerField(default=0)),
            ("under_way", models.PositiveIntegerField(default=0)),
            ("new_items", models.PositiveIntegerField(default=0)),
            ("differences", models.JSONField(default=dict)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
        ],
        options={
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("provider"), F("covers_to"), name="reconciliation_of_provider"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(("covers_from__isnull", True), ("covers_from__lte", F("covers_to")), _connector="OR"), name="reconciliation_covers_no_time_backwards"),
            ],
        },
    ),
    migrations.CreateModel(
        name="ReportLine",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("number", models.PositiveIntegerField()),
            ("provider", models.CharField(max_length=40)),
            ("reference", models.CharField(blank=True, max_length=255)),
            ("provider_ref", models.CharField(blank=True, max_length=255)),
            ("kind", models.CharField(choices=[("capture", "Capture"), ("void", "Void"), ("refund", "Refund"), ("refund_returned", "Refund returned"), ("dispute", "Chargeback"), ("dispute_won", "Chargeback that came back"), ("other", "Something else"), ("unread", "Cannot be read")], max_length=15)),
            ("amount", models.BigIntegerField()),
            ("currency", models.CharField(max_length=3)),
            ("booked_at", models.DateTimeField(blank=True, null=True)),
            ("nth", models.PositiveIntegerField(default=1)),
            ("matched_at", models.DateTimeField(blank=True, null=True)),
            ("attempt", models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.attempt")),
            ("posting", models.OneToOneField(blank=True, db_constraint=False, null=True, on_delete=models.PROTECT, related_name="report_line", to="payments.posting")),
            ("run", models.ForeignKey(on_delete=models.PROTECT, related_name="line_list", to="payments.reconciliationrun")),
            ("word", models.CharField(blank=True, default="", max_length=300)),
        ],
        options={
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("provider_ref"), name="report_line_by_provider_ref"),
                models.Index(F("provider"), F("attempt"), condition=Q(("matched_at__isnull", True)), name="report_line_unmatched"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(("posting__isnull", True), ("matched_at__isnull", False), _connector="OR"), name="report_line_with_posting_is_matched"),
                models.UniqueConstraint(F("reference"), F("provider_ref"), F("provider"), F("kind"), F("word"), F("amount"), F("currency"), F("booked_at"), F("nth"), name="report_line_once", nulls_distinct=False),
                models.CheckConstraint(condition=Q(("booked_at__isnull", False), ("kind", "unread"), _connector="OR"), name="report_line_was_booked"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("amount__gt", 0), ("kind__in", ["capture", "refund_returned", "dispute_won"])),
                        Q(("amount__lt", 0), ("kind__in", ["void", "refund", "dispute"])),
                        Q(("kind", "other"), Q(("amount", 0), _negated=True)),
                        Q(("amount", 0), ("kind", "unread"), ("matched_at__isnull", True)),
                        _connector="OR",
                    ),
                    name="report_line_sign_matches_kind",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="ReconciliationItem",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("provider", models.CharField(max_length=40)),
            (
                "kind",
                models.CharField(
                    choices=[
                        ("missing_here", "Not in ledger"),
                        ("missing_there", "Not in report"),
                        ("amount_differs", "Amount differs"),
                        ("currency_differs", "Currency differs"),
                        ("kind_differs", "Kind differs"),
                        ("reported_twice", "Reported twice"),
                        ("unread", "Cannot be read"),
                    ],
                    max_length=16,
                ),
            ),
            ("vanished_at", models.DateTimeField(blank=True, null=True)),
            ("rechecked_at", models.DateTimeField(blank=True, editable=False, null=True)),
            ("state", models.CharField(choices=[("open", "Open"), ("closed", "Closed")], default="open", max_length=6)),
            ("note", models.CharField(blank=True, default="", max_length=500, validators=[payments.models.operators.reasons.free_of_secrets])),
            ("decided_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("attempt", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to="payments.attempt")),
            ("charge", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to="payments.charge")),
            ("decided_by", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("posting", models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.posting")),
            ("run", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="items", to="payments.reconciliationrun")),
            ("line", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="items", to="payments.reportline")),
        ],
        options={
            "permissions": [
                ("close_reconciliationitem", "Can close and reopen reconciliation items"),
            ],
            "indexes": [models.Index(F("charge"), condition=Q(("kind", "missing_here"), ("vanished_at__isnull", True)), name="item_not_in_ledger")],
            "default_permissions": ("view",),
            "indexes": [models.Index(F("id"), condition=Q(("state", "open")), name="reconciliation_item_open")],
            "constraints": [
                models.UniqueConstraint(F("line"), F("kind"), name="one_item_per_line_and_kind"),
                models.UniqueConstraint(F("posting"), condition=Q(("line__isnull", True)), name="one_item_per_missing_line"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("kind", "missing_there"), ("line__isnull", True), ("posting__isnull", False)), Q(("line__isnull", False), Q(("kind", "missing_there"), _negated=True)), _connector="OR"
                    ),
                    name="reconciliation_item_has_a_side",
                ),
                models.CheckConstraint(
                    condition=Q(("state", "open"), Q(("decided_at__isnull", False), ("decided_by__isnull", False), ("note__regex", "\\S"), ("state", "closed")), _connector="OR"),
                    name="reconciliation_item_closed_by_operator",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="ReportUpload",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("provider", models.CharField(max_length=40)),
            ("file", models.CharField(max_length=255)),
            ("size", models.PositiveIntegerField()),
            ("sealed_content", models.BinaryField(blank=True, editable=False, null=True)),
            ("covers_from", models.DateTimeField(blank=True, null=True)),
            ("covers_to", models.DateTimeField(blank=True, null=True)),
            ("state", models.CharField(choices=[("waiting", "Waiting"), ("reading", "Reading"), ("done", "Done"), ("refused", "Refused")], default="waiting", max_length=7)),
            ("rows", models.PositiveIntegerField(default=0)),
            ("rows_read", models.PositiveIntegerField(default=0)),
            ("fault", models.CharField(blank=True, default="", max_length=300)),
            ("due_at", models.DateTimeField(blank=True, default=payments.clock.now, null=True)),
            ("tries", models.PositiveSmallIntegerField(default=0)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("expires_at", models.DateTimeField(default=payments.models.books.report_upload.expiry, editable=False)),
            ("operator", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("run", models.OneToOneField(blank=True, null=True, on_delete=models.PROTECT, related_name="upload", to="payments.reconciliationrun")),
        ],
        options={
            "default_permissions": ("view", "add"),
            "indexes": [models.Index(F("due_at"), condition=Q(("due_at__isnull", False)), name="report_upload_to_read")],
            "constraints": [
                models.CheckConstraint(
                    condition=Q(Q(("due_at__isnull", False), ("sealed_content__isnull", False), ("state__in", ["waiting", "reading"])), Q(("due_at__isnull", True), ("sealed_content__isnull", True), ("state__in", ["done", "refused"])), _connector="OR"),
                    name="report_upload_has_content_until_read",
                ),
                models.CheckConstraint(
                    condition=Q(Q(("run__isnull", False), ("state", "done")), Q(("state", "done"), _negated=True), _connector="OR"),
                    name="report_upload_done_by_a_run",
                ),
            ],
        },
    ),
]
