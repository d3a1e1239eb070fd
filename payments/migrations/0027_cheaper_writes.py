"""A charge writes 11 index rows fewer, and dead rows are gone sooner."""

import django.contrib.postgres.indexes
import django.db.models.deletion
import payments.models.words
from django.db import migrations, models

# By default a fifth of a table must be dead before it is cleaned: of ten million attempts, two million. An index is
# read whole to clean it, so a share it stays; the limit keeps it from falling behind a long load.
OFTEN = {
    "autovacuum_vacuum_scale_factor": "0.02",
    "autovacuum_vacuum_insert_scale_factor": "0.05",
    "autovacuum_analyze_scale_factor": "0.02",
    "autovacuum_vacuum_cost_limit": "1000",
}
GROWING = [
    *("attempt", "card", "charge", "event", "idempotencyrecord", "notification", "notificationtry", "posting"),
    *("refund", "source"),
]
CLEAN_OFTEN = [
    f"ALTER TABLE payments_{table} SET ({', '.join(f'{name} = {value}' for name, value in OFTEN.items())})"
    for table in GROWING
]
CLEAN_AS_USUAL = [f"ALTER TABLE payments_{table} RESET ({', '.join(OFTEN)})" for table in GROWING]


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0026_closed_webhook_reports"),
    ]

    operations = [
        migrations.AlterField(
            model_name="attempt",
            name="idempotency",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="attempts",
                to="payments.idempotencyrecord",
            ),
        ),
        migrations.AlterField(
            model_name="attempt",
            name="refund",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="attempts",
                to="payments.refund",
            ),
        ),
        migrations.AddIndex(
            model_name="attempt",
            index=models.Index(
                models.F("refund"), condition=models.Q(("refund__isnull", False)), name="attempt_of_refund"
            ),
        ),
        migrations.AddIndex(
            model_name="attempt",
            index=models.Index(
                models.F("idempotency"), condition=models.Q(("idempotency__isnull", False)), name="attempt_to_answer"
            ),
        ),
        migrations.AlterField(
            model_name="charge",
            name="merchant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="payments.merchant"
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="merchant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="payments.merchant"
            ),
        ),
        migrations.AlterField(
            model_name="idempotencyrecord",
            name="merchant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="payments.merchant"
            ),
        ),
        migrations.AlterField(
            model_name="source",
            name="merchant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="payments.merchant"
            ),
        ),
        migrations.AlterField(
            model_name="actlimit",
            name="role",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="act_limits", to="auth.group"
            ),
        ),
        migrations.AlterField(
            model_name="provideraccount",
            name="merchant",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="provider_accounts",
                to="payments.merchant",
            ),
        ),
        migrations.RemoveIndex(model_name="idempotencyrecord", name="idempotency_age"),
        # Changed in place: the index of a long table is not built again for a setting.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER INDEX charge_words SET (gin_pending_list_limit = 64)",
                    "ALTER INDEX charge_words RESET (gin_pending_list_limit)",
                ),
            ],
            state_operations=[
                migrations.RemoveIndex(model_name="charge", name="charge_words"),
                migrations.AddIndex(
                    model_name="charge",
                    index=django.contrib.postgres.indexes.GinIndex(
                        payments.models.words.Words("description"), gin_pending_list_limit=64, name="charge_words"
                    ),
                ),
            ],
        ),
        migrations.RunSQL(CLEAN_OFTEN, CLEAN_AS_USUAL),
    ]
