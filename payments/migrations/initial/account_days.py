"""Create the daily sums of the ledger, and the lists of accounts and statements."""

import payments.clock
from django.db import migrations, models
from django.db.models import F, Q

OPERATIONS = [
    migrations.CreateModel(
        name="AccountDay",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("day", models.DateField()),
            (
                "account",
                models.CharField(
                    choices=[
                        ("provider_hold", "Provider Hold"),
                        ("merchant_hold", "Merchant Hold"),
                        ("provider_receivable", "Provider Receivable"),
                        ("bank", "Bank"),
                        ("merchant_pending", "Merchant Pending"),
                        ("merchant_payable", "Merchant Payable"),
                        ("refunds_in_transit", "Refunds In Transit"),
                        ("reversals", "Reversals"),
                        ("fees", "Fees"),
                    ],
                    max_length=19,
                ),
            ),
            (
                "kind",
                models.CharField(
                    choices=[
                        ("hold", "Hold"),
                        ("release", "Release"),
                        ("capture", "Capture"),
                        ("fee", "Fee"),
                        ("void", "Void"),
                        ("refund", "Refund"),
                        ("refund_settled", "Refund Settled"),
                        ("refund_failed", "Refund Failed"),
                        ("late", "Late"),
                        ("reversal", "Reversal"),
                        ("settle", "Settle"),
                    ],
                    max_length=14,
                ),
            ),
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
        name="Account",
        fields=[],
        options={"proxy": True, "default_permissions": ("view",), "indexes": [], "constraints": []},
        bases=("payments.merchant",),
    ),
    migrations.CreateModel(
        name="Statement",
        fields=[],
        options={
            "permissions": [("download_statement", "Can download statements")],
            "proxy": True,
            "default_permissions": ("view",),
            "indexes": [],
            "constraints": [],
        },
        bases=("payments.merchant",),
    ),
]
