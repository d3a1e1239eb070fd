import django.contrib.postgres.fields
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds what a payment request has that collects itself."""

    dependencies = [
        ('payments', '0003_scheduled_files'),
    ]

    operations = [
        migrations.AddField(
            model_name='paymentrequest',
            name='collect_after',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='paymentrequest',
            name='collect_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='paymentrequest',
            name='collect_ended',
            field=models.CharField(blank=True, choices=[('paid', 'paid'), ('voided', 'voided'), ('advice', "the card's bank advises against another try"), ('exhausted', 'no day is left'), ('stopped', 'stopped'), ('source_gone', 'the card is not kept any more, or has expired')], db_default='', default='', max_length=11),
        ),
        migrations.AddField(
            model_name='paymentrequest',
            name='collect_from',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='paymentrequest',
            name='collect_recurring',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='paymentrequest',
            name='collect_schedule',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), blank=True, null=True, size=None),
        ),
        migrations.AddField(
            model_name='paymentrequest',
            name='collect_tries',
            field=models.SmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='paymentrequest',
            name='source_id',
            field=models.UUIDField(blank=True, null=True),
        ),
        AddConstraintNotValid(
            model_name='paymentrequest',
            constraint=models.CheckConstraint(condition=models.Q(('collect_at__isnull', True), models.Q(('collect_ended', ''), ('source_id__isnull', False)), _connector='OR'), name='payment_request_collects_a_source'),
        ),
    ]
