from django.conf import settings
from django.db import migrations

from payments.migrations.initial import (
    Together,
    audit,
    charges,
    disputes,
    events,
    ledger,
    maintenance,
    merchants,
    operators,
    payouts,
    providers,
    reconciliation,
    run_sql,
    sources,
)


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        Together(
            run_sql("refuse_change"),
            *merchants.OPERATIONS,
            *sources.OPERATIONS,
            *providers.OPERATIONS,
            *payouts.OPERATIONS,
            *charges.OPERATIONS,
            *disputes.OPERATIONS,
            *events.OPERATIONS,
            *ledger.OPERATIONS,
            *reconciliation.OPERATIONS,
            *operators.OPERATIONS,
            *audit.OPERATIONS,
            *maintenance.OPERATIONS,
        ),
    ]
