"""Payouts: the bank accounts and schedules of merchants, and the payouts that are made by them."""

from datetime import timedelta

import payments.clock
import payments.ids
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q

PAYOUT_MOMENTS = (
    Q(status="pending", sent_at__isnull=True, paid_at__isnull=True, ended_at__isnull=True)
    | Q(status="in_transit", sent_at__isnull=False, paid_at__isnull=True, ended_at__isnull=True)
    | Q(status="paid", sent_at__isnull=False, paid_at__isnull=False, ended_at__isnull=True)
    | Q(status="failed", sent_at__isnull=False, ended_at__isnull=False)
    | Q(status="cancelled", sent_at__isnull=True, paid_at__isnull=True, ended_at__isnull=False)
)

OPERATIONS = [
    migrations.CreateModel(
        name="PayoutAccount",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3, verbose_name="currency")),
            ("holder", models.CharField(max_length=70, verbose_name="holder")),
            ("bic", models.CharField(max_length=11, verbose_name="BIC")),
            ("country", models.CharField(max_length=2, verbose_name="country")),
            ("sealed_number", models.BinaryField()),
            ("last4", models.CharField(max_length=4, verbose_name="last4")),
            ("effective_at", models.DateTimeField()),
            ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "verbose_name": "payout account", "verbose_name_plural": "payout accounts", "default_permissions": ("view", "add"),
            "permissions": [("withdraw_payoutaccount", "Can withdraw bank accounts that are not in effect yet")],
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("currency"), F("effective_at"), name="payout_account_in_effect"),
                models.Index(F("effective_at"), name="payout_account_by_effect"),
            ],
            "constraints": [
                models.CheckConstraint(
                    condition=Q(withdrawn_at__isnull=True) | Q(withdrawn_at__lt=F("effective_at")), name="payout_account_withdrawn_before_its_effect"
                ),
                models.CheckConstraint(
                    condition=Q(livemode=False) | Q(effective_at__gte=F("created_at") + timedelta(hours=24)), name="live_payout_account_waits_a_day"
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="PayoutSchedule",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3, verbose_name="currency")),
            ("interval", models.CharField(choices=[("manual", "Manual"), ("daily", "Daily"), ("weekly", "Weekly"), ("monthly", "Monthly")], max_length=7, verbose_name="interval")),
            ("delay_days", models.PositiveSmallIntegerField(default=0, verbose_name="delay days")),
            ("reserve_percent", models.PositiveSmallIntegerField(default=0, verbose_name="reserve percent")),
            ("reserve_days", models.PositiveSmallIntegerField(default=0, verbose_name="reserve days")),
            ("next_at", models.DateTimeField(blank=True, null=True)),
            ("updated_at", models.DateTimeField(default=payments.clock.now)),
            ("provider_account", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.provideraccount")),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "verbose_name": "payout schedule", "verbose_name_plural": "payout schedules", "default_permissions": ("view", "change"),
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
        name="PayoutFile",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("currency", models.CharField(max_length=3)),
            ("count", models.PositiveSmallIntegerField()),
            ("total", models.BigIntegerField()),
            ("execute_on", models.DateField()),
            ("debtor_name", models.CharField(max_length=70)),
            ("debtor_bic", models.CharField(max_length=11)),
            ("sealed_debtor_number", models.BinaryField()),
            ("debtor_last4", models.CharField(max_length=4)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("downloaded_at", models.DateTimeField(blank=True, null=True)),
            ("sent_at", models.DateTimeField(blank=True, null=True)),
            ("cancelled_at", models.DateTimeField(blank=True, null=True)),
            ("created_by", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("cancelled_by", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "verbose_name": "bank file",
            "default_permissions": ("view", "add"),
            "permissions": (
                ("download_payoutfile", "Can download bank files"),
                ("send_payoutfile", "Can mark bank files as sent and paid, and cancel them"),
            ),
            "indexes": [
                models.Index(F("created_at"), condition=Q(cancelled_at__isnull=True, sent_at__isnull=True), name="payout_file_open"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(count__gte=1, count__lte=1000, total__gte=F("count")), name="payout_file_in_bounds"),
                models.CheckConstraint(condition=Q(sent_at__isnull=True) | Q(downloaded_at__isnull=False), name="payout_file_downloaded_before_sent"),
                models.CheckConstraint(
                    condition=Q(cancelled_at__isnull=True, cancelled_by__isnull=True)
                    | Q(cancelled_at__isnull=False, cancelled_by__isnull=False, sent_at__isnull=True),
                    name="payout_file_sent_or_cancelled",
                ),
                models.CheckConstraint(
                    condition=Q(cancelled_by__isnull=True) | Q(downloaded_at__isnull=True) | ~Q(cancelled_by=F("created_by")),
                    name="downloaded_payout_file_cancelled_by_another",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        name="Payout",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3, verbose_name="currency")),
            ("amount", models.BigIntegerField()),
            ("reserve", models.BigIntegerField(default=0)),
            ("reserve_due_at", models.DateTimeField(blank=True, null=True)),
            (
                "status",
                models.CharField(
                    choices=[("pending", "Pending"), ("in_transit", "In transit"), ("paid", "Paid"), ("failed", "Failed"), ("cancelled", "Cancelled")],
                    default="pending",
                    max_length=10,
                ),
            ),
            ("failure_code", models.CharField(blank=True, default="", max_length=30, verbose_name="failure code")),
            ("due_at", models.DateTimeField(blank=True, null=True)),
            ("asked_at", models.DateTimeField(blank=True, null=True)),
            ("tries", models.PositiveIntegerField(default=0)),
            ("lookups", models.PositiveIntegerField(default=0)),
            ("provider_ref", models.CharField(blank=True, default="", max_length=100)),
            ("why", models.CharField(blank=True, default="", max_length=300)),
            ("approved_at", models.DateTimeField(blank=True, null=True)),
            ("sent_at", models.DateTimeField(blank=True, null=True)),
            ("paid_at", models.DateTimeField(blank=True, null=True)),
            ("ended_at", models.DateTimeField(blank=True, null=True)),
            ("version", models.PositiveIntegerField(default=1)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
            ("updated_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
            ("account", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.payoutaccount")),
            ("provider_account", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.provideraccount")),
            ("file", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="payouts", to="payments.payoutfile")),
            ("requested_by", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ("approval", models.OneToOneField(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to="payments.approvalrequest")),
        ],
        options={
            "verbose_name": "payout", "verbose_name_plural": "payouts", "default_permissions": ("view",),
            "permissions": [
                ("make_payout", "Can pay out now"),
                ("approve_payout", "Can approve payouts"),
                ("cancel_payout", "Can cancel payouts"),
                ("record_payout", "Can request that payouts are recorded as paid or returned"),
            ],
            "indexes": [
                models.Index(F("merchant"), F("livemode"), F("id"), name="payout_of_merchant"),
                models.Index(F("merchant"), F("livemode"), F("status"), F("id"), name="payout_in_status"),
                models.Index(F("merchant"), F("livemode"), F("currency"), F("status"), F("id"), name="payout_in_currency"),
                models.Index(F("due_at"), condition=Q(("due_at__isnull", False)), name="payout_due"),
                models.Index(F("id"), condition=Q(approved_at__isnull=True, livemode=True, status="pending"), name="payout_to_approve"),
                models.Index(F("ended_at"), condition=Q(("status", "failed")), name="payout_failed"),
                models.Index(
                    F("approved_at"),
                    condition=Q(("approved_at__isnull", False), ("due_at__isnull", True), ("livemode", True), ("provider_account__isnull", False), ("status", "pending")),
                    name="payout_to_send",
                ),
                models.Index(F("reserve_due_at"), condition=Q(("reserve_due_at__isnull", False)), name="payout_reserve_due"),
                models.Index(F("file"), F("id"), condition=Q(("file__isnull", False)), name="payout_of_file"),
                models.Index(
                    F("currency"),
                    F("id"),
                    condition=Q(livemode=True, status="pending", provider_account__isnull=True, approved_at__isnull=False, file__isnull=True),
                    name="payout_for_file",
                ),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(amount__gte=1, reserve__gte=0), name="payout_pays_something"),
                models.CheckConstraint(condition=PAYOUT_MOMENTS, name="payout_moments_follow_status"),
                models.CheckConstraint(
                    condition=Q(status="failed") & ~Q(failure_code="") | ~Q(status="failed") & Q(failure_code=""), name="payout_failure_has_a_code"
                ),
                models.CheckConstraint(
                    condition=Q(reserve_due_at__isnull=True) | Q(reserve__gte=1, status__in=["pending", "in_transit", "paid"]),
                    name="payout_reserve_is_of_something",
                ),
                models.CheckConstraint(
                    condition=Q(livemode=False) | Q(status__in=["pending", "cancelled"]) | Q(approved_at__isnull=False),
                    name="live_payout_is_approved_before_it_is_sent",
                ),
                models.CheckConstraint(
                    condition=Q(approved_at__isnull=True, approval__isnull=True) | Q(approved_at__isnull=False, approval__isnull=False),
                    name="payout_approval_is_of_a_request",
                ),
                models.CheckConstraint(
                    condition=Q(file__isnull=True)
                    | Q(livemode=True, provider_account__isnull=True, approved_at__isnull=False) & ~Q(status="cancelled"),
                    name="payout_in_file_is_approved_and_live",
                ),
                models.CheckConstraint(
                    condition=Q(livemode=False) | Q(sent_at__isnull=True) | Q(provider_account__isnull=False) | Q(file__isnull=False),
                    name="live_payout_is_sent_by_file_or_provider",
                ),
                models.CheckConstraint(condition=Q(asked_at__isnull=True) | ~Q(status="cancelled"), name="payout_that_a_provider_may_have_is_not_cancelled"),
                models.CheckConstraint(
                    condition=Q(livemode=False) | Q(due_at__isnull=True, asked_at__isnull=True) | Q(approved_at__isnull=False, provider_account__isnull=False),
                    name="live_payout_is_approved_before_a_provider_is_asked",
                ),
            ],
        },
    ),
]
