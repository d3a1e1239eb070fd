"""Create payment links and checkouts."""

import django.contrib.postgres.fields
import payments.clock
import payments.db.checks
import payments.db.fields
import payments.ids
from django.db import migrations, models
from django.db.models import F, Func, Q, Value

OPERATIONS = [
    migrations.CreateModel(
        name="PaymentLink",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("short", models.CharField(max_length=10, unique=True)),
            ("internal_name", models.CharField(max_length=255)),
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
            "default_permissions": ("view",),
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
            ("kind", models.CharField(choices=[("session", "Session"), ("link", "Link"), ("request", "Request")], default="session", max_length=7)),
            ("mode", models.CharField(choices=[("payment", "Payment"), ("setup", "Setup"), ("subscription", "Subscription"), ("save_card", "Save Card")], default="payment", max_length=12)),
            (
                "state",
                models.CharField(choices=[("unpaid", "Unpaid"), ("paying", "Paying"), ("authorized", "Authorized"), ("paid", "Paid"), ("voided", "Voided"), ("expired", "Expired")], default="unpaid", max_length=10),
            ),
            ("amount", models.BigIntegerField()),
            ("currency", models.CharField(max_length=3)),
            ("order", payments.db.fields.VerbatimJSONField()),
            ("payer", payments.db.fields.VerbatimJSONField(default=dict)),
            ("client_reference_id", models.CharField(blank=True, default="", max_length=255)),
            ("customer_id", models.UUIDField(blank=True, null=True)),
            ("attempts", models.SmallIntegerField(default=0)),
            ("link", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="checkouts", to="payments.paymentlink")),
            ("edition", models.IntegerField(blank=True, null=True)),
            ("quantities", django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, null=True, size=None)),
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("version", models.IntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("kind"), F("id"), name="checkout_of_merchant"),
                models.Index(F("expires_at"), condition=Q(("state__in", ["unpaid", "paying"])), name="checkout_due"),
                models.Index(F("link"), F("id"), condition=Q(link__isnull=False), name="checkout_of_link"),
                models.Index(F("link"), condition=Q(link__isnull=False, state__in=["unpaid", "paying"]), name="checkout_under_way_of_link"),
                models.Index(F("client_reference_id"), condition=~Q(("client_reference_id", "")), name="checkout_by_reference"),
            ],
            "constraints": [
                payments.db.checks.RowRules(
                    name="checkout_follows_rules",
                    rules={
                        "checkout_state_is_known": Q(state__regex="^(unpaid|paying|authorized|paid|voided|expired)$"),
                        "checkout_amount_in_bounds": Q(mode="save_card", amount=0) | ~Q(mode="save_card") & Q(amount__gte=1, amount__lte=99999999999),
                        "checkout_attempts_in_bounds": Q(attempts__gte=0, attempts__lte=20),
                        "checkout_held_only_for_setup": Q(mode="setup") | ~Q(state__regex="^(authorized|voided)$"),
                        "checkout_keeps_cards_only_of_sessions": Q(kind="session") | Q(mode="payment"),
                        "checkout_of_link_says_what_was_bought": Q(kind="link", link__isnull=False, edition__isnull=False, quantities__isnull=False) | ~Q(kind="link") & Q(link__isnull=True),
                        "checkout_ends": Q(kind="request") | Q(expires_at__isnull=False),
                    },
                ),
            ],
        },
    ),
]
