"""Each filter of a list has an index that ends with the ID."""

import django.db.models.deletion
from django.db import migrations, models

# Customers are another app, whose tables a new database does not have yet.
FILL = """
DO $$ BEGIN
    IF to_regclass('customers_customersource') IS NOT NULL THEN
        UPDATE payments_source s SET customer_id = k.customer_id
        FROM customers_customersource k WHERE k.source_id = s.id;
        UPDATE payments_charge c SET customer_id = s.customer_id
        FROM payments_source s WHERE s.id = c.source_id AND s.customer_id IS NOT NULL;
    END IF;
END $$;
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0031_running_balances"),
    ]

    operations = [
        migrations.AddField("source", "customer_id", models.UUIDField(blank=True, null=True)),
        migrations.AddField("charge", "customer_id", models.UUIDField(blank=True, null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AddIndex(
            "charge",
            models.Index(
                models.F("merchant"),
                models.F("livemode"),
                models.F("status"),
                models.F("captured"),
                models.F("id"),
                name="charge_in_state",
            ),
        ),
        migrations.AddIndex(
            "charge",
            models.Index(
                models.F("source"), models.F("status"), models.F("captured"), models.F("id"), name="charge_of_source"
            ),
        ),
        migrations.AddIndex(
            "charge",
            models.Index(
                models.F("customer_id"),
                models.F("status"),
                models.F("captured"),
                models.F("id"),
                name="charge_of_customer",
                condition=models.Q(customer_id__isnull=False),
            ),
        ),
        migrations.AlterField(
            "charge",
            "source",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="charges",
                to="payments.source",
            ),
        ),
        migrations.AddIndex(
            "event",
            models.Index(
                models.F("merchant"), models.F("livemode"), models.F("type"), models.F("id"), name="event_of_type"
            ),
        ),
    ]
