import payments.clock
import payments.db.checks
import payments.ids
from django.db import migrations, models
from django.db.models import F, Q

ENTRIES_ARE_FINAL = """
CREATE FUNCTION simulator_entries_are_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an entry of the simulator''s book is never changed or removed'
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER simulator_entries_are_final BEFORE UPDATE OR DELETE ON simulator_entry
    FOR EACH ROW EXECUTE FUNCTION simulator_entries_are_final();
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("body", models.TextField()),
                ("due_at", models.DateTimeField(default=payments.clock.now)),
                ("delivered_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ],
            options={
                "indexes": [
                    models.Index(F("due_at"), condition=Q(("delivered_at__isnull", True)), name="simulated_message_due"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SimulatedPayment",
            fields=[
                ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("reference", models.CharField(max_length=32)),
                ("amount", models.BigIntegerField()),
                ("amount_captured", models.BigIntegerField(default=0)),
                ("amount_refunded", models.BigIntegerField(default=0)),
                ("currency", models.CharField(max_length=3)),
                ("source_type", models.CharField(max_length=20)),
                ("capture", models.BooleanField()),
                ("payer_absent", models.BooleanField(default=False)),
                ("return_url", models.CharField(max_length=2083)),
                ("last4", models.CharField(blank=True, default="", max_length=4)),
                ("cvc_checked", models.CharField(default="unchecked", max_length=11)),
                ("refunds", models.CharField(max_length=13)),
                (
                    "state",
                    models.CharField(
                        choices=[("awaiting", "Awaiting"), ("held", "Held"), ("captured", "Captured"), ("voided", "Voided"), ("declined", "Declined"), ("cancelled", "Cancelled")], max_length=9
                    ),
                ),
                ("decline_code", models.CharField(blank=True, default="", max_length=30)),
                ("token_digest", models.BinaryField(max_length=32, null=True, unique=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("pin_tries", models.SmallIntegerField(default=0)),
                ("story", models.CharField(blank=True, default="", max_length=7)),
                ("dispute_step", models.SmallIntegerField(default=0)),
                ("dispute_due_at", models.DateTimeField(null=True)),
                ("dispute_response", models.CharField(blank=True, default="", max_length=7)),
                ("amount_disputed", models.BigIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
                ("extended_days", models.SmallIntegerField(default=0)),
            ],
            options={
                "indexes": [
                    models.Index(F("expires_at"), condition=Q(("state", "awaiting")), name="simulated_page_due"),
                    models.Index(F("dispute_due_at"), condition=Q(("dispute_due_at__isnull", False)), name="simulated_dispute_due"),
                ],
                "constraints": [
                    payments.db.checks.RowRules(
                        name="simulated_payment_follows_rules",
                        rules={
                            "simulated_amount_not_negative": Q(("amount__gte", 0)),
                        "simulated_counts_not_negative": Q(("dispute_step__gte", 0), ("extended_days__gte", 0), ("pin_tries__gte", 0)),
                            "simulated_captured_within_amount": Q(("amount_captured__gte", 0), ("amount_captured__lte", F("amount"))),
                            "simulated_refunded_within_captured": Q(("amount_refunded__gte", 0), ("amount_refunded__lte", F("amount_captured"))),
                            "simulated_disputed_within_captured": Q(("amount_disputed__gte", 0), ("amount_disputed__lte", F("amount_captured"))),
                            "simulated_state_matches_money": Q(Q(("amount_captured__gte", 1), ("state", "captured")), ("state", "voided"), Q(("amount_captured", 0), ("state__in", ["awaiting", "held", "declined", "cancelled"])), _connector="OR"),
                            "simulated_decline_says_why": Q(Q(("state", "declined"), Q(("decline_code", ""), _negated=True)), Q(Q(("state", "declined"), _negated=True), ("decline_code", "")), _connector="OR"),
                            "simulated_awaiting_has_page": Q(Q(("state", "awaiting"), _negated=True), Q(("expires_at__isnull", False), ("token_digest__isnull", False)), _connector="OR"),
                            "simulated_only_cards_are_held": Q(Q(("state", "held"), _negated=True), ("source_type", "card"), _connector="OR"),
                            "simulated_pin_tries_bounded": Q(("pin_tries__lte", 3)),
                            "simulated_hold_extended_in_bounds": Q(("extended_days__lte", 21)),
                        },
                    ),
                    models.UniqueConstraint(F("reference"), name="simulated_payment_once_per_reference"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SimulatedOperation",
            fields=[
                ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("reference", models.CharField(max_length=32)),
                ("kind", models.CharField(max_length=7)),
                ("amount", models.BigIntegerField()),
                ("state", models.CharField(choices=[("succeeded", "Succeeded"), ("pending", "Pending"), ("failed", "Failed"), ("refused", "Refused")], max_length=9)),
                ("settles_at", models.DateTimeField(null=True)),
                ("settles_as", models.CharField(blank=True, default="", max_length=9)),
                ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
                ("payment", models.ForeignKey(on_delete=models.PROTECT, related_name="operations", to="simulator.simulatedpayment")),
                ("hold_days", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "indexes": [
                    models.Index(F("settles_at"), condition=Q(("settles_at__isnull", False)), name="simulated_refund_due"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(
                            Q(("settles_as", ""), ("settles_at__isnull", True)), Q(("kind", "refund"), ("settles_as__in", ["succeeded", "failed"]), ("settles_at__isnull", False)), _connector="OR"
                        ),
                        name="simulated_only_refunds_settle",
                    ),
                    models.CheckConstraint(condition=Q(("kind__in", ["capture", "void", "cancel", "refund", "extend"])), name="simulated_operation_kind"),
                    models.UniqueConstraint(F("reference"), name="simulated_operation_once_per_reference"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("hold", "Hold"), ("capture", "Capture"), ("release", "Release"), ("void", "Void"), ("refund", "Refund"), ("refund_returned", "Refund Returned"), ("dispute", "Dispute"), ("dispute_won", "Dispute Won")], max_length=15
                    ),
                ),
                ("amount", models.BigIntegerField()),
                ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
                ("payment", models.ForeignKey(on_delete=models.PROTECT, related_name="entries", to="simulator.simulatedpayment")),
                ("reference", models.CharField(max_length=32)),
            ],
            options={
                "verbose_name_plural": "entries",
                "constraints": [
                    models.CheckConstraint(condition=Q(("amount__gte", 1)), name="simulated_entry_positive"),
                    models.UniqueConstraint(F("reference"), F("kind"), name="simulated_entry_once_per_reference"),
                ],
                "indexes": [
                    models.Index(F("created_at"), name="simulated_entry_by_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SimulatedPayout",
            fields=[
                ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("reference", models.CharField(max_length=32)),
                ("amount", models.BigIntegerField()),
                ("currency", models.CharField(max_length=3)),
                ("last4", models.CharField(max_length=4)),
                ("state", models.CharField(choices=[("lost", "Lost"), ("accepted", "Accepted"), ("paid", "Paid"), ("failed", "Failed"), ("returned", "Returned")], max_length=8)),
                ("step", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ],
            options={
                "indexes": [models.Index(F("due_at"), condition=Q(("due_at__isnull", False)), name="simulated_payout_due")],
                "constraints": [
                    models.UniqueConstraint(F("reference"), name="simulated_payout_once_per_reference"),
                    models.CheckConstraint(condition=Q(("amount__gte", 1)), name="simulated_payout_positive"),
                    models.CheckConstraint(
                        condition=Q(
                            Q(("due_at__isnull", False), ("state", "accepted")),
                            ("state", "paid"),
                            Q(("due_at__isnull", True), ("state__in", ["lost", "failed", "returned"])),
                            _connector="OR",
                        ),
                        name="simulated_payout_under_way_is_due",
                    ),
                ],
            },
        ),
        migrations.RunSQL(ENTRIES_ARE_FINAL),
    ]
