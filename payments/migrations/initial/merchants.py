"""Create merchants, their keys and secrets, and the access of operators to them."""

import django.contrib.postgres.fields
import payments.clock
import payments.ids
from django.db import migrations, models
from django.db.models.functions import Upper
from django.db.models import F, Q
from django.conf import settings

from payments.migrations.initial import run_sql

PAYOUT_MOMENTS = (
    Q(status="pending", sent_at__isnull=True, paid_at__isnull=True, ended_at__isnull=True)
    | Q(status="in_transit", sent_at__isnull=False, paid_at__isnull=True, ended_at__isnull=True)
    | Q(status="paid", sent_at__isnull=False, paid_at__isnull=False, ended_at__isnull=True)
    | Q(status="failed", sent_at__isnull=False, ended_at__isnull=False)
    | Q(status="cancelled", sent_at__isnull=True, paid_at__isnull=True, ended_at__isnull=False)
)

OPERATIONS = [
    migrations.CreateModel(
        name="Merchant",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("title", models.CharField(max_length=100)),
            ("account_name", models.CharField(max_length=100)),
            ("statement_descriptor", models.CharField(max_length=100)),
            ("status", models.CharField(choices=[("active", "Active"), ("closed", "Closed")], default="active", max_length=10)),
            ("branding", models.JSONField(blank=True, default=dict)),
            ("business_address", models.CharField(blank=True, default="", max_length=255)),
            ("payment_method_settings", models.JSONField(blank=True, default=dict)),
            ("rates", models.JSONField(blank=True, default=dict)),
            ("notify_urls", models.JSONField(blank=True, default=dict)),
            ("payout_settings", models.JSONField(blank=True, default=dict)),
            ("metadata", models.JSONField(blank=True, default=dict)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("decline_budget", models.PositiveIntegerField(blank=True, null=True)),
        ],
        options={
            "constraints": [
                models.CheckConstraint(condition=Q(("decline_budget", 0), _negated=True), name="merchant_bears_some_declines"),
            ],
        },
    ),
    run_sql("merchant_terms"),
    migrations.CreateModel(
        name="ApiKey",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("kind", models.CharField(choices=[("secret", "Secret"), ("publishable", "Publishable"), ("restricted", "Restricted")], max_length=11)),
            ("digest", models.BinaryField(max_length=32, unique=True)),
            ("last4", models.CharField(max_length=4)),
            ("name", models.CharField(blank=True, default="", max_length=60)),
            ("public_text", models.CharField(blank=True, max_length=100)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("revoked_at", models.DateTimeField(blank=True, null=True)),
            ("merchant", models.ForeignKey(on_delete=models.PROTECT, related_name="keys", to="payments.merchant")),
            ("allowed_networks", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=43), blank=True, default=list, size=None)),
            ("last_used_at", models.DateTimeField(blank=True, null=True)),
            ("rights", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), blank=True, default=list, size=None)),
        ],
        options={
            "constraints": [
                models.CheckConstraint(condition=Q(("kind", "publishable"), ("public_text", ""), _connector="OR"), name="key_text_only_of_publishable"),
                models.CheckConstraint(
                    condition=Q(Q(Q(("rights", []), _negated=True), ("kind", "restricted")), Q(Q(("kind", "restricted"), _negated=True), ("rights", [])), _connector="OR"),
                    name="key_rights_only_of_restricted",
                ),
            ],
            "verbose_name": "API key",
        },
    ),
    migrations.CreateModel(
        name="WebhookSecret",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("sealed", models.BinaryField()),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("merchant", models.ForeignKey(on_delete=models.PROTECT, related_name="webhook_secrets", to="payments.merchant")),
        ],
    ),
    migrations.CreateModel(
        name="MerchantAccess",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("merchant", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("operator", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="merchant_access", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "verbose_name": "merchant that they work for",
            "verbose_name_plural": "merchants that they work for, if not for all",
            "default_permissions": (),
            "constraints": [
                models.UniqueConstraint(F("operator"), F("merchant"), name="merchant_access_once"),
            ],
            "permissions": [
                ("work_for_all_merchants", "Works for all merchants"),
            ],
        },
    ),
    migrations.CreateModel(
        name="FeeTemplate",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("title", models.CharField(max_length=60)),
            ("rates", models.JSONField(default=dict)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
        ],
        options={
            "verbose_name": "fee template",
            "constraints": [models.UniqueConstraint(Upper("title"), name="fee_template_title_once")],
        },
    ),
    migrations.CreateModel(
        name="PayoutAccount",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("holder", models.CharField(max_length=70)),
            ("bic", models.CharField(max_length=11)),
            ("country", models.CharField(max_length=2)),
            ("sealed_number", models.BinaryField()),
            ("last4", models.CharField(max_length=4)),
            ("effective_at", models.DateTimeField()),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "default_permissions": ("view",),
            "indexes": [models.Index(F("merchant"), F("livemode"), F("currency"), F("effective_at"), name="payout_account_in_effect")],
        },
    ),
    migrations.CreateModel(
        name="PayoutSchedule",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("interval", models.CharField(choices=[("manual", "Manual"), ("daily", "Daily"), ("weekly", "Weekly"), ("monthly", "Monthly")], max_length=7)),
            ("delay_days", models.PositiveSmallIntegerField(default=0)),
            ("reserve_percent", models.PositiveSmallIntegerField(default=0)),
            ("reserve_days", models.PositiveSmallIntegerField(default=0)),
            ("next_at", models.DateTimeField(blank=True, null=True)),
            ("updated_at", models.DateTimeField(default=payments.clock.now)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "default_permissions": ("view",),
            "indexes": [models.Index(F("next_at"), condition=Q(("next_at__isnull", False)), name="payout_schedule_due")],
            "constraints": [
                models.UniqueConstraint(F("merchant"), F("livemode"), F("currency"), name="one_payout_schedule"),
                models.CheckConstraint(
                    condition=Q(interval="manual", next_at__isnull=True) | Q(interval__in=["daily", "weekly", "monthly"], next_at__isnull=False),
                    name="payout_schedule_runs_unless_manual",
                ),
                models.CheckConstraint(
                    condition=Q(delay_days__lte=90, reserve_percent__lte=99, reserve_days__lte=540)
                    & (Q(reserve_percent=0, reserve_days=0) | Q(reserve_percent__gte=1, reserve_days__gte=1)),
                    name="payout_schedule_in_bounds",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Payout",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("amount", models.BigIntegerField()),
            ("reserve", models.BigIntegerField(default=0)),
            ("reserve_due_at", models.DateTimeField(blank=True, null=True)),
            (
                "status",
                models.CharField(
                    choices=[("pending", "Pending"), ("in_transit", "In Transit"), ("paid", "Paid"), ("failed", "Failed"), ("cancelled", "Cancelled")],
                    default="pending",
                    max_length=10,
                ),
            ),
            ("failure_code", models.CharField(blank=True, default="", max_length=30)),
            ("due_at", models.DateTimeField(blank=True, null=True)),
            ("sent_at", models.DateTimeField(blank=True, null=True)),
            ("paid_at", models.DateTimeField(blank=True, null=True)),
            ("ended_at", models.DateTimeField(blank=True, null=True)),
            ("version", models.PositiveIntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("account", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.payoutaccount")),
        ],
        options={
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("id"), name="payout_of_merchant"),
                models.Index(F("merchant"), F("livemode"), F("status"), F("id"), name="payout_in_status"),
                models.Index(F("due_at"), condition=Q(("due_at__isnull", False)), name="payout_due"),
                models.Index(F("reserve_due_at"), condition=Q(("reserve_due_at__isnull", False)), name="payout_reserve_due"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(amount__gte=1, reserve__gte=0), name="payout_pays_something"),
                models.CheckConstraint(condition=PAYOUT_MOMENTS, name="payout_moments_follow_status"),
                models.CheckConstraint(
                    condition=Q(status="failed") & ~Q(failure_code="") | ~Q(status="failed") & Q(failure_code=""), name="payout_failure_has_a_code"
                ),
                models.CheckConstraint(condition=Q(reserve_due_at__isnull=True) | Q(reserve__gte=1), name="payout_reserve_is_of_something"),
            ],
        },
    ),
]
