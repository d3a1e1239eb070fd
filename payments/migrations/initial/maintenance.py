"""Create sums of days, how operators like their lists, money checks, and what workers record; clean growing tables."""

import payments.clock
import payments.ids
import payments.models.search_entry
from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Now

from payments.migrations.initial import run_sql

OPERATIONS = [
    migrations.CreateModel(
        name="DayTotal",
        fields=[
            ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("day", models.DateField()),
            ("livemode", models.BooleanField()),
            ("currency", models.CharField(max_length=3)),
            ("source_type", models.CharField(max_length=20)),
            ("provider", models.CharField(max_length=40)),
            ("outcome", models.CharField(choices=[("approved", "Approved"), ("declined", "Declined"), ("abandoned", "Abandoned"), ("pending", "Pending")], max_length=9)),
            ("reason", models.CharField(blank=True, default="", max_length=30)),
            ("count", models.PositiveIntegerField()),
            ("amount", models.BigIntegerField()),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "default_permissions": ("view",),
            "indexes": [models.Index(F("merchant"), F("day"), name="day_total_of_merchant")],
            "constraints": [
                models.UniqueConstraint(F("day"), F("livemode"), F("currency"), F("merchant"), F("source_type"), F("provider"), F("outcome"), F("reason"), name="one_total_per_day_and_kind"),
                models.CheckConstraint(condition=Q(("amount__gte", 1), ("count__gte", 1)) | Q(("amount", 0), ("count__gte", 1), ("source_type", "checkout_session")), name="day_total_of_something"),
            ],
        },
    ),
    migrations.CreateModel(
        name="SummedDay",
        fields=[
            ("day", models.DateField(primary_key=True, serialize=False)),
            ("pending", models.PositiveIntegerField(default=0)),
            ("summed_at", models.DateTimeField(default=payments.clock.now)),
        ],
        options={
            "default_permissions": ("view",),
        },
    ),
    migrations.CreateModel(
        name="SavedView",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("model", models.CharField(max_length=100)),
            ("name", models.CharField(max_length=60)),
            ("query", models.CharField(max_length=1000)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("user", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "permissions": [("export_list", "Exports lists")],
            "default_permissions": (),
            "constraints": [
                models.UniqueConstraint(F("user"), F("model"), F("name"), name="one_saved_view_per_name"),
            ],
        },
    ),
    migrations.CreateModel(
        name="MoneyCheck",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("whole", models.BooleanField()),
            ("invariants", models.JSONField()),
            ("failures", models.JSONField(blank=True, default=list)),
            ("started_at", models.DateTimeField(default=payments.clock.now, editable=False)),
            ("finished_at", models.DateTimeField(blank=True, null=True)),
            ("merchant", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
        ],
        options={
            "default_permissions": ("view",),
            "indexes": [
                models.Index(F("id"), condition=Q(("finished_at__isnull", False), ("whole", True)), name="money_check_newest_whole"),
            ],
            "constraints": [
                models.CheckConstraint(condition=Q(("finished_at__isnull", False), ("failures", []), _connector="OR"), name="money_check_fails_at_its_end"),
                models.CheckConstraint(condition=Q(("whole", False), ("merchant__isnull", True), _connector="OR"), name="money_check_whole_is_of_everybody"),
            ],
        },
    ),
    run_sql("vacuum"),
    migrations.CreateModel(
        name="NotificationChoice",
        fields=[
            ("operator", models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="notification_choice", serialize=False, to=settings.AUTH_USER_MODEL)),
            ("mode", models.CharField(choices=[("none", "No e-mail"), ("each", "One e-mail for each event"), ("digest", "One e-mail a day")], default="none", max_length=6)),
            ("sorts", models.JSONField(default=list)),
        ],
        options={
            "default_permissions": (),
            "constraints": [models.CheckConstraint(condition=Q(("mode__in", ["none", "each", "digest"])), name="notification_mode_is_known")],
        },
    ),
    migrations.CreateModel(
        name="Notification",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("key", models.CharField(max_length=500)),
            ("text", models.TextField()),
            (
                "state",
                models.CharField(
                    choices=[("waiting", "Waiting"), ("sent", "Sent"), ("kept", "Kept"), ("dropped", "Dropped"), ("given_up", "given up")],
                    default="waiting",
                    max_length=8,
                    verbose_name="state",
                ),
            ),
            ("why", models.CharField(blank=True, default="", max_length=100, verbose_name="why")),
            ("tries", models.PositiveSmallIntegerField(default=0, verbose_name="tries")),
            ("due_at", models.DateTimeField(blank=True, default=payments.clock.now, null=True)),
            ("ended_at", models.DateTimeField(blank=True, null=True)),
            ("bundled", models.BooleanField(default=False)),
            ("created_at", models.DateTimeField(default=payments.clock.now, editable=False, verbose_name="created at")),
            ("operator", models.ForeignKey(db_index=False, null=True, on_delete=models.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
        ],
        options={
            "default_permissions": (),
            "constraints": [
                models.UniqueConstraint(F("operator"), F("key"), condition=Q(("operator__isnull", False)), name="notification_once_to_an_operator"),
                models.UniqueConstraint(F("key"), condition=Q(("operator__isnull", True)), name="notification_once_to_the_chat"),
                models.CheckConstraint(
                    condition=Q(
                        Q(("due_at__isnull", False), ("ended_at__isnull", True), ("state", "waiting")),
                        Q(Q(("state", "waiting"), _negated=True), ("due_at__isnull", True), ("ended_at__isnull", False)),
                        _connector="OR",
                    ),
                    name="notification_waiting_is_due",
                ),
            ],
            "indexes": [
                models.Index(F("due_at"), condition=Q(("due_at__isnull", False)), name="notification_due"),
                models.Index(F("operator"), F("ended_at"), condition=Q(("state", "sent")), name="notification_sent"),
                models.Index(F("created_at"), name="notification_age"),
            ],
        },
    ),
    migrations.CreateModel(
        name="SearchProgress",
        fields=[
            ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
            ("event_id", models.UUIDField(null=True)),
            ("complete_to", models.DateTimeField(null=True)),
        ],
        options={
            "default_permissions": (),
            "constraints": [models.CheckConstraint(condition=Q(("id", 1)), name="one_search_progress")],
        },
    ),
    migrations.CreateModel(
        name="SearchEntry",
        fields=[
            ("id", models.UUIDField(primary_key=True, serialize=False)),
            ("kind", models.CharField(choices=[("charge", "Charge"), ("customer", "Customer"), ("checkout", "Checkout"), ("link", "Link")], max_length=8)),
            ("livemode", models.BooleanField()),
            ("lexemes", payments.models.search_entry.Lexemes()),
            ("merchant", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="+", to="payments.merchant")),
        ],
        options={
            "default_permissions": (),
            "indexes": [
                GinIndex(F("lexemes"), condition=Q(("kind", "charge")), gin_pending_list_limit=64, name="search_of_charges"),
                GinIndex(F("lexemes"), condition=Q(("kind", "customer")), gin_pending_list_limit=64, name="search_of_customers"),
                GinIndex(F("lexemes"), condition=Q(("kind", "checkout")), gin_pending_list_limit=64, name="search_of_checkouts"),
                GinIndex(F("lexemes"), condition=Q(("kind", "link")), gin_pending_list_limit=64, name="search_of_links"),
            ],
            "constraints": [models.CheckConstraint(condition=Q(("kind__in", ["charge", "customer", "checkout", "link"])), name="search_kind_is_known")],
        },
    ),
    migrations.CreateModel(
        name="WorkerProcess",
        fields=[
            ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
            ("host", models.CharField(max_length=100)),
            ("pid", models.PositiveIntegerField()),
            ("started_at", models.DateTimeField(db_default=Now())),
            ("seen_at", models.DateTimeField(db_default=Now())),
            ("ended_at", models.DateTimeField(null=True)),
            ("busy", models.PositiveIntegerField(default=0)),
            ("threads", models.PositiveIntegerField()),
        ],
        options={
            "default_permissions": (),
            "constraints": [models.CheckConstraint(condition=Q(("seen_at__gte", F("started_at"))), name="worker_process_is_seen_after_its_start")],
        },
    ),
    migrations.CreateModel(
        name="Sweep",
        fields=[
            ("name", models.CharField(max_length=60, primary_key=True, serialize=False)),
            ("due_at", models.DateTimeField(db_default=Now())),
            ("worker", models.UUIDField(null=True)),
            ("started_at", models.DateTimeField(null=True)),
            ("finished_at", models.DateTimeField(null=True)),
            ("milliseconds", models.PositiveIntegerField(null=True)),
            ("error", models.CharField(default="", max_length=100)),
            ("worked_at", models.DateTimeField(null=True)),
            ("oldest_due_at", models.DateTimeField(null=True)),
            ("due_since", models.DateTimeField(null=True)),
            ("measured_at", models.DateTimeField(null=True)),
        ],
        options={
            "default_permissions": ("view",),
            "constraints": [
                models.CheckConstraint(condition=Q(Q(("started_at__isnull", True), ("worker__isnull", True)), Q(("started_at__isnull", False), ("worker__isnull", False)), _connector="OR"), name="sweep_run_has_a_worker"),
                models.CheckConstraint(condition=Q(("finished_at__isnull", False), Q(("error", ""), ("milliseconds__isnull", True), ("worked_at__isnull", True)), _connector="OR"), name="sweep_result_has_an_end"),
            ],
        },
    ),
    run_sql("workers"),
]
