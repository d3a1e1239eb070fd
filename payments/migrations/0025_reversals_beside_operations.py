from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0024_work_for_all_merchants'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='attempt',
            name='one_unresolved_operation_per_charge',
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(models.F('charge'), condition=models.Q(('state__in', ['open', 'unknown']), models.Q(('kind', 'reverse'), _negated=True)), name='one_unresolved_operation_per_charge'),
        ),
    ]
