"""Create scheduled files: saved views that are sent, and what was sent."""

import django.db.models.deletion
import payments.clock
import payments.ids
from django.db import migrations, models
from django.db.models import F, Q

from payments.migrations.row_security import readable


class Migration(migrations.Migration):
    dependencies = [("payments", "0002_row_security")]
    operations = [
        migrations.CreateModel(
            name="FileSchedule",
            fields=[
                ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("livemode", models.BooleanField()),
                ("interval", models.CharField(choices=[("daily", "Daily"), ("weekly", "Weekly"), ("monthly", "Monthly")], max_length=7, verbose_name="interval")),
                ("for_colleagues", models.BooleanField(default=False, verbose_name="colleagues get it too")),
                ("next_at", models.DateTimeField(blank=True, null=True)),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("stopped", models.CharField(blank=True, default="", max_length=100)),
                ("merchant", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="payments.merchant")),
                ("view", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="payments.savedview")),
            ],
            options={
                "verbose_name": "scheduled file",
                "verbose_name_plural": "scheduled files",
                "default_permissions": ("view",),
                "indexes": [models.Index(F("due_at"), name="file_schedule_due", condition=Q(due_at__isnull=False))],
                "constraints": [
                    models.UniqueConstraint(F("view"), F("merchant"), name="one_schedule_of_a_view", nulls_distinct=False),
                    models.CheckConstraint(name="file_schedule_interval_is_known", condition=Q(interval__in=["daily", "weekly", "monthly"])),
                ],
            },
        ),
        migrations.CreateModel(
            name="SentFile",
            fields=[
                ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("rights", models.BinaryField(max_length=32)),
                ("size", models.PositiveIntegerField()),
                ("sealed_content", models.BinaryField()),
                ("created_at", models.DateTimeField(default=payments.clock.now, editable=False)),
                ("merchant", models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="payments.merchant")),
                ("schedule", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="files", to="payments.fileschedule")),
            ],
            options={"default_permissions": ()},
        ),
        readable(["payments_fileschedule", "payments_sentfile"]),
    ]
