import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import F, Q

import payments.clock

PROTECT = django.db.models.deletion.PROTECT
LINE_KINDS = [
    ("capture", "Capture"),
    ("void", "Void"),
    ("refund", "Refund"),
    ("refund_returned", "Refund returned"),
    ("dispute", "Chargeback"),
    ("dispute_won", "Chargeback that came back"),
    ("payout", "Paid to our bank"),
    ("booked", "Bank booking"),
    ("other", "Something else"),
    ("unread", "Cannot be read"),
]
ITEM_KINDS = [
    ("missing_here", "Not in ledger"),
    ("missing_there", "Not in report"),
    ("amount_differs", "Amount differs"),
    ("currency_differs", "Currency differs"),
    ("kind_differs", "Kind differs"),
    ("reported_twice", "Reported twice"),
    ("unread", "Cannot be read"),
    ("suspected", "Perhaps ours"),
    ("returned", "Returned payout"),
]


class Migration(migrations.Migration):
    """Adds our bank accounts, their statements, and what the movements on them are."""

    dependencies = [("payments", "0006_imported_customers")]
    operations = [
        migrations.CreateModel(
            name="OwnBankAccount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        max_length=40,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z][a-z0-9-]+\\Z", "Small letters, digits and hyphens."
                            )
                        ],
                    ),
                ),
                ("currency", models.CharField(max_length=3)),
                (
                    "last4",
                    models.CharField(
                        max_length=4,
                        validators=[
                            django.core.validators.RegexValidator("^[A-Z0-9]{4}\\Z", "Four letters or digits.")
                        ],
                    ),
                ),
                (
                    "providers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                (
                    "days",
                    models.PositiveSmallIntegerField(
                        default=5,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(60),
                        ],
                    ),
                ),
                ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ],
            options={"verbose_name": "bank account", "default_permissions": ("view", "add", "change")},
        ),
        migrations.CreateModel(
            name="BankStatement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False, on_delete=PROTECT, related_name="statements", to="payments.ownbankaccount"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(on_delete=PROTECT, related_name="statements", to="payments.reconciliationrun"),
                ),
                ("name", models.CharField(max_length=255)),
                ("first_day", models.DateField()),
                ("last_day", models.DateField()),
                ("opening", models.BigIntegerField()),
                ("closing", models.BigIntegerField()),
                ("off", models.BigIntegerField(default=0)),
            ],
            options={
                "default_permissions": ("view",),
                "constraints": [
                    models.UniqueConstraint(
                        *(F("account"), F("last_day"), F("first_day"), F("name"), F("opening"), F("closing")),
                        name="bank_statement_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BankLine",
            fields=[
                (
                    "line",
                    models.OneToOneField(
                        on_delete=PROTECT,
                        primary_key=True,
                        related_name="bank",
                        serialize=False,
                        to="payments.reportline",
                    ),
                ),
                ("text", models.CharField(blank=True, default="", max_length=300)),
                (
                    "payout",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=PROTECT,
                        related_name="bank_lines",
                        to="payments.payout",
                    ),
                ),
                (
                    "file",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=PROTECT,
                        related_name="bank_lines",
                        to="payments.payoutfile",
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        null=True, on_delete=PROTECT, related_name="arrivals", to="payments.reportline"
                    ),
                ),
                ("is_guess", models.BooleanField(default=False)),
                (
                    "confirmed_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        name="bank_line_is_one_thing",
                        condition=Q(payout=None, file=None) | Q(payout=None, batch=None) | Q(file=None, batch=None),
                    )
                ],
            },
        ),
        migrations.AlterField("reconciliationitem", "kind", models.CharField(choices=ITEM_KINDS, max_length=16)),
        migrations.AlterField("reportline", "kind", models.CharField(choices=LINE_KINDS, max_length=15)),
        migrations.RemoveConstraint("reportline", "report_line_sign_matches_kind"),
        AddConstraintNotValid(
            "reportline",
            models.CheckConstraint(
                name="report_line_sign_matches_kind",
                condition=Q(kind__in=["capture", "refund_returned", "dispute_won"], amount__gt=0)
                | Q(kind__in=["void", "refund", "dispute"], amount__lt=0)
                | Q(kind="payout", amount__lt=0)
                | Q(kind__in=["other", "booked"]) & ~Q(amount=0)
                | Q(kind="unread", amount=0, matched_at__isnull=True),
            ),
        ),
    ]
