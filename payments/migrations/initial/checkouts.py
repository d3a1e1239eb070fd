"""Create checkouts."""

import payments.clock
import payments.db.checks
import payments.db.fields
import payments.ids
from django.db import migrations, models
from django.db.models import F, Q

OPERATIONS = [
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
            ("expires_at", models.DateTimeField(blank=True, null=True)),
            ("version", models.IntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "default_permissions": ("view",),
            "permissions": [("expire_checkout", "Can expire checkout")],
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("kind"), F("id"), name="checkout_of_merchant"),
                models.Index(F("expires_at"), condition=Q(("state__in", ["unpaid", "paying"])), name="checkout_due"),
                models.Index(F("id"), condition=Q(("attempts", 0), ("state", "expired")), name="checkout_never_tried"),
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
                        "checkout_ends": Q(kind="request") | Q(expires_at__isnull=False),
                    },
                ),
            ],
        },
    ),
]
