"""Create settlements, postings, running balances and daily sums."""

import payments.clock
import payments.db.checks
import payments.ids
from django.db import migrations, models
from django.db.models import F, Q, lookups

from payments.migrations.initial import run_sql

ACCOUNTS = [
    ("provider_hold", "Provider hold"),
    ("merchant_hold", "Merchant hold"),
    ("provider_receivable", "Provider receivable"),
    ("bank", "Bank"),
    ("merchant_pending", "Merchant pending"),
    ("merchant_payable", "Merchant payable"),
    ("merchant_reserve", "Merchant reserve"),
    ("payouts_in_transit", "Payouts in transit"),
    ("refunds_in_transit", "Refunds in transit"),
    ("reversals", "Reversals"),
    ("fees", "Fees"),
]
KINDS = [
    ("hold", "Hold"),
    ("release", "Release"),
    ("capture", "Capture"),
    ("fee", "Fee"),
    ("void", "Void"),
    ("refund", "Refund"),
    ("refund_settled", "Refund settled"),
    ("refund_failed", "Refund failed"),
    ("late", "Late"),
    ("reversal", "Reversal"),
    ("dispute", "Dispute"),
    ("dispute_won", "Dispute won"),
    ("dispute_fee", "Dispute fee"),
    ("settle", "Settle"),
    ("payout", "Payout"),
    ("payout_paid", "Payout paid"),
    ("payout_failed", "Payout failed"),
    ("payout_late", "Payout late"),
    ("reserve", "Reserve"),
    ("reserve_release", "Reserve release"),
]

OPERATIONS = [
    migrations.CreateModel(
        name="Settlement",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("day", models.DateField()),
            ("number", models.PositiveSmallIntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(F("merchant"), F("livemode"), F("currency"), F("day"), F("number"), name="one_settlement_per_merchant_and_day"),
                models.CheckConstraint(condition=Q(livemode=False) | Q(number=1), name="settlement_one_a_day_in_live_mode"),
            ],
        },
    ),
    migrations.CreateModel(
        name="Posting",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("journal", models.UUIDField()),
            ("line", models.SmallIntegerField()),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("account", models.CharField(choices=ACCOUNTS, max_length=19)),
            ("kind", models.CharField(choices=KINDS, max_length=15)),
            ("amount", models.BigIntegerField()),
            ("attempt_id", models.UUIDField(blank=True, null=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("charge", models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=models.PROTECT, related_name="postings", to="payments.charge")),
            ("payout", models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=models.PROTECT, related_name="postings", to="payments.payout")),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("settlement", models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=models.PROTECT, related_name="postings", to="payments.settlement")),
        ],
        options={
            "indexes": [
                models.Index(F("payout"), condition=Q(("payout__isnull", False)), name="posting_of_payout"),
                models.Index(
                    F("merchant"), F("livemode"), F("id"), condition=Q(("account", "merchant_payable"), ("payout__isnull", False)), name="posting_paid_out"
                ),
                models.Index(F("settlement"), F("id"), condition=Q(("settlement__isnull", False)), name="posting_of_settlement"),
                models.Index(F("merchant"), F("livemode"), F("currency"), F("id"), condition=Q(("account", "merchant_pending")), name="posting_merchant_pending"),
                models.Index(F("merchant"), F("livemode"), F("currency"), F("id"), condition=Q(("account", "merchant_payable")), name="posting_merchant_payable"),
                models.Index(F("merchant"), F("livemode"), F("currency"), F("id"), condition=Q(("account", "merchant_reserve")), name="posting_merchant_reserve"),
            ],
            "constraints": [
                models.UniqueConstraint(F("journal"), condition=Q(("line", 1)), name="posting_starts_journal_once"),
                payments.db.checks.RowRules(
                    name="posting_follows_rules",
                    rules={
                        "posting_moves_something": Q(("amount", 0), _negated=True),
                        "posting_line_in_range": Q(("line__range", (1, 29))),
                        "posting_of_a_charge_or_a_payout": lookups.Exact(lookups.IsNull(F("charge"), True), lookups.IsNull(F("payout"), False)),
                        "posting_settles_in_a_settlement": lookups.Exact(lookups.Exact(F("kind"), "settle"), lookups.IsNull(F("settlement"), False)),
                    },
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="PayoutPart",
        fields=[
            ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("is_settlement", models.BooleanField()),
            ("amount", models.BigIntegerField(blank=True, null=True)),
            ("payable_at", models.DateTimeField()),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("payout", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="parts", to="payments.payout")),
        ],
        options={
            "default_permissions": (),
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("currency"), F("payable_at"), condition=Q(("payout__isnull", True)), name="payout_part_left"),
                models.Index(F("payout"), F("id"), condition=Q(("payout__isnull", False)), name="payout_part_of"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(amount__isnull=False) | Q(is_settlement=True, payout__isnull=True), name="payout_part_amount_is_known"),
            ],
        },
    ),
    run_sql("ledger"),
    run_sql("payouts"),
    migrations.CreateModel(
        name="RunningBalance",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("shard", models.SmallIntegerField()),
            ("provider_hold", models.BigIntegerField(default=0)),
            ("merchant_hold", models.BigIntegerField(default=0)),
            ("provider_receivable", models.BigIntegerField(default=0)),
            ("bank", models.BigIntegerField(default=0)),
            ("merchant_pending", models.BigIntegerField(default=0)),
            ("merchant_payable", models.BigIntegerField(default=0)),
            ("merchant_reserve", models.BigIntegerField(default=0)),
            ("payouts_in_transit", models.BigIntegerField(default=0)),
            ("refunds_in_transit", models.BigIntegerField(default=0)),
            ("reversals", models.BigIntegerField(default=0)),
            ("fees", models.BigIntegerField(default=0)),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "constraints": [
                models.UniqueConstraint(fields=("merchant", "livemode", "currency", "shard"), name="one_running_balance_per_shard"),
            ],
        },
    ),
    run_sql("balances"),
    migrations.CreateModel(
        name="AccountDay",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("day", models.DateField()),
            ("account", models.CharField(choices=ACCOUNTS, max_length=19)),
            ("kind", models.CharField(choices=KINDS, max_length=15)),
            ("debits", models.BigIntegerField()),
            ("credits", models.BigIntegerField()),
            ("postings", models.PositiveIntegerField()),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "default_permissions": ("view",),
            "indexes": [models.Index(F("day"), name="account_day_by_day")],
            "constraints": [
                models.UniqueConstraint(F("merchant"), F("livemode"), F("currency"), F("day"), F("account"), F("kind"), name="account_day_once"),
                models.CheckConstraint(condition=Q(("credits__gte", 0), ("debits__gte", 0), ("postings__gte", 1)), name="account_day_of_something"),
            ],
        },
    ),
    migrations.CreateModel(
        name="LedgerDay",
        fields=[
            ("day", models.DateField(primary_key=True, serialize=False)),
            ("postings", models.PositiveIntegerField(default=0)),
            ("summed_at", models.DateTimeField(default=payments.clock.now, editable=False)),
        ],
        options={
            "verbose_name": "trial balance",
            "verbose_name_plural": "trial balances",
            "permissions": [("download_ledgerday", "Can download trial balances")],
            "default_permissions": ("view",),
        },
    ),
    migrations.CreateModel(
        name="SettlementTotal",
        fields=[
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("settlement", models.OneToOneField(on_delete=models.PROTECT, primary_key=True, related_name="total", serialize=False, to="payments.settlement")),
            ("charges", models.PositiveIntegerField()),
            ("gross", models.BigIntegerField()),
            ("refunds", models.BigIntegerField()),
            ("fees", models.BigIntegerField()),
            ("net", models.BigIntegerField()),
        ],
        options={"default_permissions": ("view",)},
    ),
    migrations.CreateModel(
        name="LogLeaf",
        fields=[
            ("number", models.BigIntegerField(primary_key=True, serialize=False)),
            ("journal", models.UUIDField(unique=True)),
            ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("livemode", models.BooleanField()),
            ("salt", models.BinaryField(max_length=16)),
        ],
        options={"default_permissions": ()},
    ),
    migrations.CreateModel(
        name="LogNode",
        fields=[
            ("id", models.BigIntegerField(primary_key=True, serialize=False)),
            ("hash", models.BinaryField(max_length=32)),
        ],
        options={"default_permissions": ()},
    ),
    migrations.CreateModel(
        name="LogHead",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("size", models.BigIntegerField()),
            ("signed_at", models.DateTimeField(default=payments.clock.now)),
            ("note", models.TextField()),
        ],
        options={
            "default_permissions": (),
            "indexes": [models.Index(F("size"), F("id"), name="log_head_of_size")],
        },
    ),
    migrations.CreateModel(
        name="LogProgress",
        fields=[
            ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
            ("size", models.BigIntegerField(default=0)),
            ("posting_id", models.UUIDField(null=True)),
            ("looked_at", models.DateTimeField(default=payments.clock.now)),
        ],
        options={
            "default_permissions": (),
            "constraints": [models.CheckConstraint(condition=Q(id=1), name="one_log_progress")],
        },
    ),
    run_sql("transparency"),
    migrations.CreateModel(
        name="Account",
        fields=[],
        options={"proxy": True, "default_permissions": ("view",), "indexes": [], "constraints": []},
        bases=("payments.merchant",),
    ),
    migrations.CreateModel(
        name="Statement",
        fields=[],
        options={
            "verbose_name": "statement", "verbose_name_plural": "statements",
            "permissions": [("download_statement", "Can download statements")],
            "proxy": True,
            "default_permissions": ("view",),
            "indexes": [],
            "constraints": [],
        },
        bases=("payments.merchant",),
    ),
]
