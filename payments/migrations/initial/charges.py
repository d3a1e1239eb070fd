"""Create charges, refunds, their attempts, decline alerts and page visits."""

import payments.clock
import payments.ids
import payments.db.fields
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q

OPERATIONS = [
    migrations.CreateModel(
        name="IdempotencyRecord",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("key", models.CharField(max_length=255)),
            ("fingerprint", models.BinaryField(max_length=32)),
            ("status", models.PositiveSmallIntegerField(blank=True, null=True)),
            ("body", models.BinaryField(null=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(F("merchant"), F("livemode"), F("key"), name="idempotency_key_once_per_mode"),
                models.CheckConstraint(
                    condition=Q(Q(("body__isnull", True), ("status__isnull", True)), Q(("body__isnull", False), ("status__isnull", False)), _connector="OR"), name="idempotency_answer_is_whole"
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Charge",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("single_use", models.BooleanField()),
            ("amount", models.BigIntegerField()),
            ("amount_captured", models.BigIntegerField(default=0)),
            ("amount_refunded", models.BigIntegerField(default=0)),
            ("currency", models.CharField(max_length=3)),
            (
                "status",
                models.CharField(choices=[("pending", "Pending"), ("succeeded", "Succeeded"), ("failed", "Failed"), ("voided", "Voided"), ("refunded", "Refunded")], default="pending", max_length=9),
            ),
            ("authorized", models.BooleanField(default=False)),
            ("captured", models.BooleanField(default=False)),
            ("settled_at", models.DateTimeField(blank=True, null=True)),
            ("capture_at_once", models.BooleanField(default=True)),
            ("require_auth", models.BooleanField(default=True)),
            ("statement_descriptor", models.CharField(max_length=100)),
            ("description", models.CharField(max_length=255)),
            ("redirect_url", models.CharField(blank=True, max_length=2083)),
            ("metadata", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
            ("action", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
            ("action_expires_at", models.DateTimeField(blank=True, null=True)),
            ("hold_expires_at", models.DateTimeField(blank=True, null=True)),
            ("failure_data", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
            ("operation", models.CharField(blank=True, default="", max_length=7)),
            ("reversed_late", models.BooleanField(default=False)),
            ("disputed", models.BooleanField(default=False)),
            ("amount_disputed", models.BigIntegerField(default=0)),
            ("version", models.PositiveIntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("source", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="charges", to="payments.source")),
            ("fee", models.BigIntegerField(default=0)),
            ("fee_basis_points", models.PositiveSmallIntegerField(default=0)),
            ("fee_fixed", models.BigIntegerField(default=0)),
            ("settle_due_at", models.DateTimeField(blank=True, null=True)),
            ("hold_extended_days", models.PositiveSmallIntegerField(default=0)),
            ("customer_id", models.UUIDField(blank=True, null=True)),
        ],
        options={
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("id"), name="charge_of_merchant"),
                models.Index(F("hold_expires_at"), condition=Q(("hold_expires_at__isnull", False)), name="charge_hold_due"),
                models.Index(F("settle_due_at"), condition=Q(("settle_due_at__isnull", False)), name="charge_settle_due"),
                models.Index(F("status"), F("livemode"), F("id"), name="charge_by_status"),
                models.Index(F("livemode"), F("id"), condition=Q(("authorized", True)), name="charge_held"),
                models.Index(F("merchant"), F("livemode"), F("status"), F("captured"), F("id"), name="charge_in_state"),
                models.Index(F("source"), F("status"), F("captured"), F("id"), name="charge_of_source"),
                models.Index(F("customer_id"), F("status"), F("captured"), F("id"), condition=Q(("customer_id__isnull", False)), name="charge_of_customer"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(("amount__gte", 1), ("amount__lte", 99999999999), ("amount_disputed__gte", 0)), name="charge_amount_in_bounds"),
                models.CheckConstraint(condition=Q(("amount_captured__gte", 0), ("amount_captured__lte", F("amount"))), name="charge_captured_within_amount"),
                models.CheckConstraint(condition=Q(("amount_refunded__gte", 0), ("amount_refunded__lte", F("amount_captured"))), name="charge_refunded_within_captured"),
                models.CheckConstraint(
                    condition=Q(Q(("amount_captured__gt", 0), ("captured", True)), Q(("amount_captured", 0), ("captured", False)), _connector="OR"), name="charge_captured_has_amount"
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(("authorized", False), ("captured", False), ("status__in", ["pending", "failed"])),
                        Q(("authorized", True), ("captured", False), ("status", "succeeded")),
                        Q(("amount_refunded__lt", F("amount_captured")), ("authorized", False), ("captured", True), ("status", "succeeded")),
                        Q(("authorized", False), ("status", "voided")),
                        Q(("amount_refunded", F("amount_captured")), ("authorized", False), ("captured", True), ("status", "refunded")),
                        _connector="OR",
                    ),
                    name="charge_flags_match_status",
                ),
                models.CheckConstraint(
                    condition=Q(Q(("failure_data__isnull", False), ("status", "failed")), Q(Q(("status", "failed"), _negated=True), ("failure_data__isnull", True)), _connector="OR"),
                    name="charge_failed_says_why",
                ),
                models.UniqueConstraint(F("source"), condition=Q(("single_use", True)), name="one_charge_per_single_use_source"),
                models.CheckConstraint(condition=Q(("fee__gte", 0), ("fee__lte", F("amount_captured")), ("fee_fixed__gte", 0)), name="charge_fee_within_captured"),
                models.CheckConstraint(
                    condition=Q(Q(("settle_due_at__isnull", True), ("settled_at__isnull", True)), Q(("captured", True), ("status__in", ["succeeded", "refunded"])), _connector="OR"),
                    name="charge_settles_what_it_took",
                ),
                models.CheckConstraint(condition=Q(("operation__in", ["", "capture", "void", "refund", "extend"])), name="charge_operation_is_known"),
                models.CheckConstraint(condition=Q(("hold_extended_days__lte", 21)), name="charge_hold_extended_in_bounds"),
            ],
        },
    ),
    migrations.CreateModel(
        name="Refund",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("amount", models.BigIntegerField()),
            ("currency", models.CharField(max_length=3)),
            ("reason", models.CharField(max_length=255)),
            ("status", models.CharField(choices=[("pending", "Pending"), ("succeeded", "Succeeded"), ("failed", "Failed")], default="pending", max_length=9)),
            ("version", models.PositiveIntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("charge", models.ForeignKey(on_delete=models.PROTECT, related_name="refunds", to="payments.charge")),
            ("merchant", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "indexes": [
                models.Index(F("id"), condition=Q(("status", "pending")), name="refund_pending"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(("amount__gte", 1)), name="refund_amount_positive"),
                models.CheckConstraint(condition=Q(("status__in", ["pending", "succeeded", "failed"])), name="refund_status_is_known"),
            ],
        },
    ),
    migrations.CreateModel(
        name="Attempt",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            (
                "kind",
                models.CharField(choices=[("authorize", "Authorize"), ("capture", "Capture"), ("void", "Void"), ("refund", "Refund"), ("extend", "Extend"), ("reverse", "Reverse")], max_length=9),
            ),
            ("provider", models.CharField(max_length=40)),
            ("amount", models.BigIntegerField()),
            ("state", models.CharField(choices=[("open", "Open"), ("unknown", "Unknown"), ("waiting", "Waiting"), ("done", "Done")], default="open", max_length=7)),
            ("outcome", models.CharField(blank=True, default="", max_length=20)),
            ("provider_ref", models.CharField(blank=True, default="", max_length=255)),
            ("response", models.JSONField(blank=True, null=True)),
            ("request_id", models.CharField(blank=True, default="", max_length=40)),
            ("tries", models.PositiveIntegerField(default=0)),
            ("due_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("charge", models.ForeignKey(on_delete=models.PROTECT, related_name="attempts", to="payments.charge")),
            ("idempotency", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.SET_NULL, related_name="attempts", to="payments.idempotencyrecord")),
            ("refund", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="attempts", to="payments.refund")),
            ("block", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="declined", to="payments.block")),
            ("answer_status", models.PositiveSmallIntegerField(blank=True, null=True)),
            ("api_key", models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.apikey")),
            ("idempotency_key", models.CharField(blank=True, default="", max_length=255)),
            ("hold_days", models.PositiveSmallIntegerField(blank=True, null=True)),
            ("chosen", models.CharField(blank=True, default="", max_length=100)),
            ("outage_at", models.DateTimeField(blank=True, null=True)),
            ("passed_on", models.BooleanField(default=False)),
            ("account", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="attempts", to="payments.provideraccount")),
            ("route", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="attempts", to="payments.route")),
            ("qr", models.TextField(blank=True, default="")),
        ],
        options={
            "indexes": [
                models.Index(F("due_at"), condition=Q(("due_at__isnull", False)), name="attempt_due"),
                models.Index(F("block"), F("id"), condition=Q(("block__isnull", False)), name="attempt_blocked"),
                models.Index(F("provider_ref"), condition=Q(("provider_ref", ""), _negated=True), name="attempt_provider_ref"),
                models.Index(F("route"), F("id"), condition=Q(("route__isnull", False)), name="attempt_of_route"),
                models.Index(F("refund"), condition=Q(("refund__isnull", False)), name="attempt_of_refund"),
                models.Index(F("idempotency"), condition=Q(("idempotency__isnull", False)), name="attempt_to_answer"),
            ],
            "constraints": [
                models.CheckConstraint(
                    condition=Q(Q(("state", "done"), Q(("outcome", ""), _negated=True)), Q(("due_at__isnull", False), ("state__in", ["open", "unknown", "waiting"])), _connector="OR"),
                    name="attempt_done_has_outcome",
                ),
                models.CheckConstraint(
                    condition=Q(
                        Q(("state", "done"), _negated=True),
                        Q(Q(("outcome", "NotFound"), _negated=True), ("due_at__isnull", True)),
                        Q(("outcome", "NotFound"), Q(("due_at__isnull", False), ("tries__gte", 3), _connector="OR")),
                        _connector="OR",
                    ),
                    name="attempt_given_up_is_looked_up_again",
                ),
                models.CheckConstraint(
                    condition=Q(("block__isnull", True), Q(("kind", "authorize"), ("provider_ref", ""), Q(("outcome__in", ["Approved", "LateApproved"]), _negated=True)), _connector="OR"),
                    name="attempt_blocked_is_never_approved",
                ),
                models.CheckConstraint(
                    condition=Q(Q(("hold_days__gte", 1), ("kind", "extend")), Q(Q(("kind", "extend"), _negated=True), ("hold_days__isnull", True)), _connector="OR"), name="attempt_extends_by_days"
                ),
                models.CheckConstraint(condition=Q(("route__isnull", True), ("account__isnull", False), _connector="OR"), name="attempt_by_a_route_is_of_an_account"),
                models.CheckConstraint(
                    condition=Q(("passed_on", False), Q(("kind", "authorize"), ("route__isnull", False), ("state", "done"), ("outcome__in", ["NotSent", "Declined", "LateApproved"])), _connector="OR"),
                    name="attempt_passed_on_moved_no_money",
                ),
                models.UniqueConstraint(F("charge"), condition=Q(("kind", "authorize"), ("passed_on", False)), name="one_authorization_per_charge"),
                models.UniqueConstraint(F("charge"), F("route"), condition=Q(("kind", "authorize"), ("route__isnull", False)), name="one_authorization_per_route"),
                models.UniqueConstraint(F("charge"), condition=Q(("state__in", ["open", "unknown"]), Q(("kind", "reverse"), _negated=True)), name="one_unresolved_operation_per_charge"),
            ],
        },
    ),
    migrations.CreateModel(
        name="DeclineAlert",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("kind", models.CharField(choices=[("card", "on one card"), ("address", "from one address"), ("key", "by one key"), ("merchant", "of the merchant in all")], max_length=8)),
            ("subject", models.TextField(blank=True)),
            ("quota", models.PositiveIntegerField()),
            ("window_starts_at", models.DateTimeField()),
            ("window_ends_at", models.DateTimeField()),
            ("acknowledged_at", models.DateTimeField(blank=True, null=True)),
            ("over_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("acknowledged_by", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("charge", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.charge")),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "permissions": [("acknowledge_declinealert", "Can acknowledge decline alerts")],
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("created_at"), name="decline_alert_recent"),
                models.Index(F("window_ends_at"), condition=Q(("over_at__isnull", True)), name="decline_alert_not_over"),
            ],
            "constraints": [
                models.UniqueConstraint(F("merchant"), F("livemode"), F("kind"), F("window_starts_at"), name="one_decline_alert_per_window"),
                models.CheckConstraint(condition=Q(("window_ends_at__gt", F("window_starts_at"))), name="decline_alert_window_has_an_end"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("acknowledged_at__isnull", True), ("acknowledged_by__isnull", True)),
                        Q(("acknowledged_at__isnull", False), ("acknowledged_by__isnull", False)),
                        _connector="OR",
                    ),
                    name="decline_alert_acknowledged_whole",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="PageVisit",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("page", models.CharField(choices=[("asked", "Was asked to confirm"), ("decided", "Decided"), ("came_back", "Came back")], max_length=9)),
            ("address", models.CharField(blank=True, max_length=45)),
            ("browser", models.CharField(max_length=20)),
            ("times", models.PositiveIntegerField(default=1)),
            ("first_at", models.DateTimeField()),
            ("last_at", models.DateTimeField()),
            ("charge", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="page_visits", to="payments.charge")),
        ],
        options={
            "default_permissions": (),
            "indexes": [
                models.Index(F("last_at"), name="page_visit_age"),
            ],
            "constraints": [
                models.UniqueConstraint(F("charge"), F("page"), F("address"), F("browser"), name="page_visits_are_counted_once"),
                models.CheckConstraint(condition=Q(("last_at__gte", F("first_at")), ("times__gte", 1)), name="page_visit_happened"),
            ],
        },
    ),
]
