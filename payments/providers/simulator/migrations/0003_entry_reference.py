from django.db import migrations, models

# An entry's payment says what moved it, but for what an operation moved: the operations of one kind are in the order
# of its entries.
FILL = """
ALTER TABLE simulator_entry DISABLE TRIGGER simulator_entries_are_final;
WITH entry AS (
    SELECT id, payment_id, kind, row_number() OVER (PARTITION BY payment_id, kind ORDER BY id) AS nth
    FROM simulator_entry
), operation AS (
    SELECT payment_id, reference, entry_kind,
        row_number() OVER (PARTITION BY payment_id, entry_kind ORDER BY created_at, id) AS nth
    FROM simulator_simulatedoperation o JOIN (VALUES
        ('capture', 'capture'), ('capture', 'release'), ('void', 'release'), ('void', 'void'), ('refund', 'refund'),
        ('refund', 'refund_returned')
    ) AS k (kind, entry_kind) ON k.kind = o.kind AND o.state <> 'refused'
        AND (k.entry_kind <> 'refund_returned' OR o.state = 'failed')
)
UPDATE simulator_entry e SET reference = coalesce(
    (SELECT o.reference FROM operation o WHERE (o.payment_id, o.entry_kind, o.nth) = (n.payment_id, n.kind, n.nth)),
    p.reference
) FROM entry n, simulator_simulatedpayment p WHERE n.id = e.id AND p.id = e.payment_id;
ALTER TABLE simulator_entry ENABLE TRIGGER simulator_entries_are_final;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('simulator', '0002_entries_are_final'),
    ]

    operations = [
        migrations.AddField(
            model_name='entry',
            name='reference',
            field=models.CharField(default='', max_length=32),
            preserve_default=False,
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name='entry',
            constraint=models.UniqueConstraint(models.F('reference'), models.F('kind'), name='simulated_entry_once_per_reference'),
        ),
        migrations.AddIndex(
            model_name='entry',
            index=models.Index(models.F('created_at'), name='simulated_entry_by_time'),
        ),
    ]
