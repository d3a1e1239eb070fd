from django.db import migrations, models
from django.db.models import F


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0011_decline_alerts'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='idempotencyrecord', name='idempotency_key_once_per_mode'),
        migrations.AddField(
            model_name='idempotencyrecord',
            name='from_browser',
            field=models.BooleanField(default=False),
        ),
        migrations.AddConstraint(
            model_name='idempotencyrecord',
            constraint=models.UniqueConstraint(
                F('merchant'), F('livemode'), F('from_browser'), F('key'), name='idempotency_key_once_per_mode'
            ),
        ),
    ]
