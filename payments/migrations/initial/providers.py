"""Create accounts at providers, the routes to them, and the webhooks that they send."""

import payments.clock
import payments.ids
import payments.models.operators.reasons
from django.db import migrations, models
from django.db.models import F, Q
from django.conf import settings

from payments.migrations.initial import run_sql

OPERATIONS = [
    migrations.CreateModel(
        name="ProviderAccount",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("provider", models.CharField(max_length=40)),
            ("title", models.CharField(max_length=100)),
            ("sealed_credentials", models.BinaryField()),
            ("hints", models.JSONField(blank=True, default=dict)),
            ("settings", models.JSONField(blank=True, default=dict)),
            ("enabled", models.BooleanField(default=True)),
            ("version", models.PositiveIntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="provider_accounts", to="payments.merchant")),
        ],
        options={
            "permissions": [
                ("change_provideraccount", "Can make and change provider accounts"),
                ("test_provideraccount", "Can test the credentials of provider accounts"),
            ],
            "default_permissions": ("view",),
            "constraints": [
                models.CheckConstraint(condition=Q(("title__regex", "\\S")), name="provider_account_has_a_title"),
                models.UniqueConstraint(F("merchant"), F("livemode"), F("title"), name="one_provider_account_per_title"),
            ],
        },
    ),
    migrations.CreateModel(
        name="Route",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("source_type", models.CharField(max_length=20)),
            ("currency", models.CharField(blank=True, default="", max_length=3)),
            ("amount_min", models.BigIntegerField(blank=True, null=True)),
            ("amount_max", models.BigIntegerField(blank=True, null=True)),
            ("position", models.PositiveSmallIntegerField(default=0)),
            ("hold", models.BooleanField(default=True)),
            ("refund", models.BooleanField(default=True)),
            ("partial_refund", models.BooleanField(default=True)),
            ("enabled", models.BooleanField(default=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("account", models.ForeignKey(on_delete=models.PROTECT, related_name="routes", to="payments.provideraccount")),
        ],
        options={
            "permissions": [
                ("change_route", "Can make and change routes"),
            ],
            "default_permissions": ("view",),
            "constraints": [
                models.CheckConstraint(
                    condition=Q(("source_type__in", ("card", "gcash", "maya", "paymaya", "grabpay", "alipay", "wechat", "unionpay", "qrph", "instapay", "pesonet", "bpi", "bdo", "unionbank", "rcbc"))),
                    name="route_source_type_is_known",
                ),
                models.CheckConstraint(condition=Q(("currency__regex", "^([A-Z]{3})?$")), name="route_currency_is_a_code"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("amount_min__isnull", True), ("amount_min__gte", 1), _connector="OR"),
                        Q(("amount_max__isnull", True), ("amount_max__gte", 1), _connector="OR"),
                        Q(("amount_min__isnull", True), ("amount_max__isnull", True), ("amount_max__gte", F("amount_min")), _connector="OR"),
                    ),
                    name="route_amounts_are_a_range",
                ),
                models.CheckConstraint(
                    condition=Q(Q(("amount_max__isnull", True), ("amount_min__isnull", True)), Q(("currency", ""), _negated=True), _connector="OR"), name="route_amounts_are_of_a_currency"
                ),
                models.CheckConstraint(condition=Q(("partial_refund", False), ("refund", True), _connector="OR"), name="route_partial_refund_is_a_refund"),
            ],
        },
    ),
    run_sql("routes"),
    migrations.CreateModel(
        name="ProviderMessage",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("body", models.BinaryField()),
            ("digest", models.BinaryField(max_length=32)),
            ("received_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("account", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="messages", to="payments.provideraccount")),
        ],
        options={
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("received_at"), name="provider_message_age"),
            ],
            "constraints": [
                models.UniqueConstraint(F("account"), F("digest"), name="provider_message_is_unique"),
            ],
        },
    ),
    migrations.CreateModel(
        name="ProviderEvent",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("key", models.CharField(blank=True, db_collation="C", max_length=255)),
            ("reference", models.CharField(blank=True, db_collation="C", max_length=255)),
            ("provider_ref", models.CharField(blank=True, max_length=255)),
            ("outcome", models.CharField(blank=True, max_length=20)),
            ("outcome_json", models.TextField(blank=True)),
            ("amount", models.BigIntegerField(blank=True, null=True)),
            ("currency", models.CharField(blank=True, max_length=3)),
            (
                "state",
                models.CharField(
                    choices=[("waiting", "Waiting"), ("applied", "Applied"), ("needs_attention", "needs attention"), ("no_news", "no news"), ("not_ours", "not ours"), ("closed", "Closed")],
                    default="waiting",
                    max_length=15,
                ),
            ),
            ("why", models.CharField(blank=True, max_length=300)),
            ("tries", models.PositiveIntegerField(default=0)),
            ("due_at", models.DateTimeField(blank=True, default=payments.clock.now, null=True)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("account", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.provideraccount")),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("message", models.ForeignKey(on_delete=models.CASCADE, related_name="events", to="payments.providermessage")),
            ("closed_at", models.DateTimeField(blank=True, null=True)),
            ("closed_by", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("note", models.CharField(blank=True, default="", max_length=500, validators=[payments.models.operators.reasons.free_of_secrets])),
            ("payment", models.CharField(blank=True, default="", max_length=255)),
        ],
        options={
            "default_permissions": (),
            "indexes": [
                models.Index(F("due_at"), condition=Q(("due_at__isnull", False)), name="provider_event_due"),
                models.Index(F("reference"), F("account"), name="provider_event_of_reference"),
                models.Index(F("id"), condition=Q(("state", "needs_attention")), name="provider_event_attention"),
                models.Index(F("payment"), condition=Q(("payment", ""), _negated=True), name="provider_event_of_payment"),
            ],
            "constraints": [
                models.UniqueConstraint(F("account"), F("key"), condition=Q(("key", ""), _negated=True), name="provider_event_is_unique"),
                models.CheckConstraint(
                    condition=Q(Q(("due_at__isnull", False), ("state", "waiting")), Q(Q(("state", "waiting"), _negated=True), ("due_at__isnull", True)), _connector="OR"),
                    name="provider_event_waiting_has_due_at",
                ),
                models.CheckConstraint(condition=Q(Q(("state", "needs_attention"), _negated=True), Q(("why", ""), _negated=True), _connector="OR"), name="provider_event_attention_has_reason"),
                models.CheckConstraint(
                    condition=Q(
                        Q(Q(("state", "closed"), _negated=True), ("closed_at__isnull", True), ("closed_by__isnull", True), ("note", "")),
                        Q(("closed_at__isnull", False), ("closed_by__isnull", False), ("note__regex", "\\S"), ("state", "closed")),
                        _connector="OR",
                    ),
                    name="provider_event_closed_by_operator",
                ),
            ],
            "permissions": [
                ("close_providerevent", "Can close provider events that need attention"),
            ],
        },
    ),
]
