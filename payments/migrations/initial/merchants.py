"""Create merchants, their keys and secrets, and the access of operators to them."""

import django.contrib.postgres.fields
import payments.clock
import payments.ids
from django.db import migrations, models
from django.db.models.functions import Upper
from django.db.models import F, Q
from django.conf import settings

from payments.migrations.initial import run_sql

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
            ("metadata", models.JSONField(blank=True, default=dict)),
            ("events_test", models.PositiveIntegerField(default=0, editable=False)),
            ("events_live", models.PositiveIntegerField(default=0, editable=False)),
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
]
