"""Create the heartbeats of workers and the state of their sweeps."""

import payments.ids
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Now

from payments.migrations.initial import run_sql

OPERATIONS = [
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
