from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds the index of the sweep that collects payment requests, beside writes, so in no transaction."""

    atomic = False
    dependencies = [("payments", "0004_collect_requests")]
    operations = [
        AddIndexConcurrently(
            model_name='paymentrequest',
            index=models.Index(models.F('collect_at'), condition=models.Q(('collect_at__isnull', False)), name='payment_request_to_collect'),
        ),
    ]
