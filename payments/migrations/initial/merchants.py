"""Create merchants, their keys and endpoints, the access of operators to them, and what payers pay on our pages."""

import django.contrib.postgres.fields
import payments.clock
import payments.db.checks
import payments.db.fields
import payments.ids
from django.db import migrations, models
from django.db.models.functions import Upper
from django.db.models.lookups import LessThanOrEqual
from django.db.models import F, Func, Q, Value
from django.conf import settings
from django.core.validators import RegexValidator

from payments.migrations.initial import run_sql

SUPPORT_PHONE = RegexValidator(r"\A\+?[0-9][0-9 ()-]{3,22}[0-9]\Z", "Write a telephone number as +63 917 555 0142.")

OPERATIONS = [
    migrations.CreateModel(
        name="Merchant",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("title", models.CharField(max_length=100, verbose_name="title")),
            ("account_name", models.CharField(max_length=100, verbose_name="account name")),
            ("statement_descriptor", models.CharField(max_length=100, verbose_name="statement descriptor")),
            ("status", models.CharField(choices=[("active", "Active"), ("closed", "Closed")], default="active", max_length=10, verbose_name="status")),
            ("branding", models.JSONField(blank=True, default=dict)),
            ("logo", models.UUIDField(editable=False, null=True)),
            ("icon", models.UUIDField(editable=False, null=True)),
            ("business_address", models.CharField(blank=True, default="", max_length=255, verbose_name="business address")),
            ("payment_method_settings", models.JSONField(blank=True, default=dict)),
            ("rates", models.JSONField(blank=True, default=dict)),
            ("metadata", models.JSONField(blank=True, default=dict)),
            ("events_test", models.PositiveIntegerField(default=0, editable=False)),
            ("events_live", models.PositiveIntegerField(default=0, editable=False)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("support_email", models.EmailField(blank=True, default="", max_length=254, verbose_name="support email")),
            ("support_phone", models.CharField(blank=True, default="", max_length=25, validators=[SUPPORT_PHONE], verbose_name="support phone")),
            ("send_receipts", models.BooleanField(default=False, verbose_name="send receipts")),
            ("kept_bodies", models.CharField(choices=[("test", "In test mode"), ("both", "In both modes"), ("none", "Never")], default="none", max_length=4, verbose_name="bodies of requests")),
            ("decline_budget", models.PositiveIntegerField(blank=True, null=True)),
        ],
        options={
            "verbose_name": "merchant", "verbose_name_plural": "merchants",
            "constraints": [models.CheckConstraint(condition=Q(("decline_budget", 0), _negated=True), name="merchant_bears_some_declines")],
        },
    ),
    run_sql("merchant_terms"),
    migrations.CreateModel(
        name="BrandPicture",
        fields=[
            ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
            ("content", models.BinaryField()),
            ("merchant", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "default_permissions": (),
            "constraints": [
                models.CheckConstraint(
                    condition=LessThanOrEqual(Func("content", function="octet_length", output_field=models.IntegerField()), 286720),
                    name="brand_picture_in_bounds",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="ApiKey",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("kind", models.CharField(choices=[("secret", "Secret"), ("publishable", "Publishable"), ("restricted", "Restricted"), ("assistant", "Assistant's")], max_length=11, verbose_name="kind")),
            ("digest", models.BinaryField(max_length=32, unique=True)),
            ("last4", models.CharField(max_length=4)),
            ("name", models.CharField(blank=True, default="", max_length=60, verbose_name="name")),
            ("public_text", models.CharField(blank=True, max_length=100)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("revoked_at", models.DateTimeField(blank=True, null=True)),
            ("merchant", models.ForeignKey(on_delete=models.PROTECT, related_name="keys", to="payments.merchant")),
            ("allowed_networks", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=43), blank=True, default=list, size=None)),
            ("allowed_origins", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=270), blank=True, default=list, size=None)),
            ("last_used_at", models.DateTimeField(blank=True, null=True)),
            ("rights", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), blank=True, default=list, size=None)),
            ("rules", models.JSONField(blank=True, default=dict)),
            ("asks_as", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("issued_by", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "verbose_name": "API key", "verbose_name_plural": "API keys",
            "constraints": [
                models.CheckConstraint(condition=Q(("kind", "publishable"), ("public_text", ""), _connector="OR"), name="key_text_only_of_publishable"),
                models.CheckConstraint(condition=Q(Q(Q(("rights", []), _negated=True), ("kind__in", ["restricted", "assistant"])), Q(Q(("kind__in", ["restricted", "assistant"]), _negated=True), ("rights", [])), _connector="OR"), name="key_rights_only_of_restricted"),
                models.CheckConstraint(condition=Q(Q(("asks_as__isnull", False), ("kind", "assistant")), Q(Q(("kind", "assistant"), _negated=True), ("asks_as__isnull", True), ("rules", {})), _connector="OR"), name="key_rules_only_of_assistants"),
                models.CheckConstraint(condition=Q(("kind", "publishable"), ("allowed_origins", []), _connector="OR"), name="key_origins_only_of_publishable"),
            ],
        },
    ),
    migrations.CreateModel(
        name="WebhookEndpoint",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("url", models.CharField(max_length=2083, verbose_name="URL")),
            ("enabled_events", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=30), size=None)),
            ("status", models.CharField(choices=[("enabled", "Enabled"), ("paused", "Paused"), ("disabled", "Disabled"), ("deleted", "Deleted")], default="enabled", max_length=8, verbose_name="status")),
            ("description", models.CharField(blank=True, default="", max_length=255, verbose_name="description")),
            ("metadata", payments.db.fields.VerbatimJSONField(blank=True, null=True)),
            ("failing_since", models.DateTimeField(blank=True, null=True)),
            ("gave_up_at", models.DateTimeField(blank=True, null=True)),
            ("owed_since", models.DateTimeField(blank=True, null=True)),
            ("catch_up_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="webhook_endpoints", to="payments.merchant")),
        ],
        options={
            "verbose_name": "webhook endpoint", "verbose_name_plural": "webhook endpoints",
            "constraints": [
                models.CheckConstraint(condition=Q(("enabled_events", []), _negated=True), name="endpoint_lists_events"),
                models.CheckConstraint(condition=Q(("gave_up_at__isnull", True), ("status", "disabled"), _connector="OR"), name="endpoint_given_up_is_disabled"),
            ],
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("id"), condition=Q(("status", "deleted"), _negated=True), name="endpoint_of_merchant"),
                models.Index(F("failing_since"), condition=Q(("failing_since__isnull", False)), name="endpoint_failing"),
                models.Index(F("catch_up_at"), condition=Q(("catch_up_at__isnull", False)), name="endpoint_to_catch_up"),
                models.Index(F("gave_up_at"), condition=Q(("gave_up_at__isnull", False)), name="endpoint_given_up"),
            ],
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
            ("endpoint", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="secrets", to="payments.webhookendpoint")),
        ],
        options={"verbose_name": "webhook secret", "verbose_name_plural": "webhook secrets"},
    ),
    migrations.CreateModel(
        name="MerchantAccess",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("merchant", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("user", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="merchant_access", to=settings.AUTH_USER_MODEL)),
            (
                "role",
                models.CharField(
                    blank=True,
                    choices=[("owner", "Owner"), ("finance", "Finance"), ("support", "Support"), ("developer", "Developer"), ("viewer", "Viewer")],
                    default="",
                    max_length=9,
                ),
            ),
            ("name", models.CharField(blank=True, default="", max_length=150)),
            ("rights_since", models.DateTimeField(default=payments.clock.now, editable=False)),
        ],
        options={
            "verbose_name": "merchant that they work for",
            "verbose_name_plural": "merchants that they work for, if not for all",
            "default_permissions": (),
            "constraints": [
                models.UniqueConstraint(F("user"), F("merchant"), name="merchant_access_once"),
                models.CheckConstraint(
                    condition=Q(("role__in", ["", "owner", "finance", "support", "developer", "viewer"])),
                    name="merchant_access_role_is_known",
                ),
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
        name="PaymentLink",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("short", models.CharField(max_length=10, unique=True)),
            ("internal_name", models.CharField(max_length=255, verbose_name="internal name")),
            ("active", models.BooleanField(default=True)),
            ("order", payments.db.fields.VerbatimJSONField()),
            ("stock", django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
            ("remaining", django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
            ("edition", models.IntegerField(default=1)),
            ("payments", models.IntegerField(default=0)),
            ("is_full", models.BooleanField(default=False)),
            ("ends_at", models.DateTimeField(blank=True, null=True)),
            ("version", models.IntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "verbose_name": "payment link", "verbose_name_plural": "payment links", "default_permissions": ("view",),
            "permissions": [("switch_paymentlink", "Can activate and deactivate payment links")],
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("id"), name="link_of_merchant"),
                models.Index(F("merchant"), F("livemode"), F("active"), F("id"), name="link_by_state"),
                models.Index(F("ends_at"), condition=Q(("active", True), ("ends_at__isnull", False)), name="link_due"),
                models.Index(F("id"), condition=Q(("active", True), ("is_full", True)), name="link_full"),
            ],
            "constraints": [
                payments.db.checks.RowRules(
                    name="payment_link_follows_rules",
                    rules={
                        "payment_link_is_not_oversold": Func(Value(0), F("remaining"), template="(%(expressions)s))", arg_joiner=" <= ALL (", output_field=models.BooleanField()),
                        "payment_link_counts_each_item": Func(Func(F("stock"), function="cardinality"), Func(F("remaining"), function="cardinality"), template="(%(expressions)s)", arg_joiner=" = ", output_field=models.BooleanField()),
                        "payment_link_payments_are_counted": Q(payments__gte=0),
                    },
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Checkout",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("kind", models.CharField(choices=[("session", "Session"), ("link", "Link"), ("request", "Request")], default="session", max_length=7, verbose_name="kind")),
            ("mode", models.CharField(choices=[("payment", "Payment"), ("setup", "Setup"), ("subscription", "Subscription"), ("save_card", "Save card")], default="payment", max_length=12)),
            (
                "state",
                models.CharField(choices=[("unpaid", "Unpaid"), ("paying", "Paying"), ("authorized", "Authorized"), ("paid", "Paid"), ("voided", "Voided"), ("expired", "Expired")], default="unpaid", max_length=10, verbose_name="state"),
            ),
            ("amount", models.BigIntegerField()),
            ("currency", models.CharField(max_length=3)),
            ("order", payments.db.fields.VerbatimJSONField()),
            ("payer", payments.db.fields.VerbatimJSONField(default=dict)),
            ("client_reference_id", models.CharField(blank=True, default="", max_length=255, verbose_name="client reference id")),
            ("customer_id", models.UUIDField(blank=True, null=True)),
            ("attempts", models.SmallIntegerField(default=0, verbose_name="attempts")),
            ("check_source_id", models.UUIDField(blank=True, null=True)),
            ("check_account_id", models.UUIDField(blank=True, null=True)),
            ("check_due_at", models.DateTimeField(blank=True, null=True)),
            ("check_url", models.TextField(blank=True, default="")),
            ("check_code", models.CharField(blank=True, default="", max_length=30)),
            ("link", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="checkouts", to="payments.paymentlink")),
            ("edition", models.IntegerField(blank=True, null=True)),
            ("quantities", django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, null=True, size=None)),
            ("reserved_by", models.CharField(blank=True, default="", max_length=49)),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("version", models.IntegerField(default=1)),
            ("ended_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "verbose_name": "checkout", "verbose_name_plural": "checkouts", "default_permissions": ("view",),
            "permissions": [("expire_checkout", "Can expire checkout"), ("void_checkout", "Can void checkout"), ("resend_checkout", "Can resend checkout")],
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("kind"), F("id"), name="checkout_of_merchant"),
                models.Index(F("merchant"), F("livemode"), F("kind"), F("state"), F("id"), condition=Q(("expires_at__isnull", True)), name="request_by_state"),
                models.Index(F("expires_at"), condition=Q(("state__in", ["unpaid", "paying"])), name="checkout_due"),
                models.Index(F("link"), F("id"), condition=Q(link__isnull=False), name="checkout_of_link"),
                models.Index(F("merchant"), F("link"), condition=Q(link__isnull=False, state__in=["unpaid", "paying"]), name="checkout_under_way_of_link"),
                models.Index(F("check_due_at"), condition=Q(check_due_at__isnull=False), name="checkout_check_due"),
                models.Index(F("check_source_id"), condition=Q(check_source_id__isnull=False), name="checkout_checked"),
                models.Index(F("id"), condition=Q(Q(("attempts", 0), ("state", "expired")), Q(("mode", "save_card"), ("state__in", ["expired", "paid"])), _connector="OR"), name="checkout_without_charge"),
            ],
            "constraints": [
                payments.db.checks.RowRules(
                    name="checkout_follows_rules",
                    rules={
                        "checkout_state_is_known": Q(state__regex="^(unpaid|paying|authorized|paid|voided|expired)$"),
                        "checkout_amount_in_bounds": Q(mode="save_card", amount=0) | ~Q(mode="save_card") & Q(amount__gte=1, amount__lte=99999999999),
                        "checkout_attempts_in_bounds": Q(attempts__gte=0, attempts__lte=20),
                        "checkout_held_only_for_setup": Q(mode="setup") | ~Q(state="authorized"),
                        "checkout_session_voided_only_if_held": Q(mode="setup") | Q(kind="request") | ~Q(state="voided"),
                        "checkout_checks_only_cards_to_keep": Q(check_due_at__isnull=True, check_url="") & ~Q(mode="save_card", state="paying")
                        | Q(mode="save_card", state="paying", check_code="") & Q(check_due_at__isnull=False, check_source_id__isnull=False),
                        "checkout_open_has_no_end": Q(ended_at__isnull=True) | Q(state__regex="^(paid|voided|expired)$"),
                        "checkout_keeps_cards_only_of_sessions": Q(kind="session") | Q(mode="payment"),
                        "checkout_of_link_says_what_was_bought": Q(kind="link", link__isnull=False, edition__isnull=False, quantities__isnull=False) | ~Q(kind="link") & Q(link__isnull=True),
                        "checkout_ends_unless_request": Q(kind="request", expires_at__isnull=True)
                        | ~Q(kind="request") & Q(expires_at__isnull=False),
                    },
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="PaymentRequest",
        fields=[
            ("checkout", models.OneToOneField(on_delete=models.PROTECT, primary_key=True, related_name="request", serialize=False, to="payments.checkout")),
            ("livemode", models.BooleanField()),
            ("series", models.CharField(max_length=8)),
            ("place", models.PositiveIntegerField()),
            ("void_reason", models.CharField(blank=True, default="", max_length=255)),
            ("email_delivered", models.BooleanField(default=False)),
            ("sms_delivered", models.BooleanField(default=False)),
            ("resends", models.PositiveSmallIntegerField(default=0)),
            ("resent_at", models.DateTimeField(blank=True, null=True)),
            ("reminders", models.PositiveSmallIntegerField(default=0)),
            ("remind_at", models.DateTimeField(blank=True, null=True)),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "indexes": [
                models.Index(F("remind_at"), condition=Q(("remind_at__isnull", False)), name="payment_request_reminder"),
            ],
            "constraints": [
                models.UniqueConstraint(F("series"), F("place"), F("merchant"), F("livemode"), name="payment_request_number_is_unique"),
                models.CheckConstraint(condition=Q(("resends__lte", 10)), name="payment_request_resends_in_bounds"),
            ],
        },
    ),
]
