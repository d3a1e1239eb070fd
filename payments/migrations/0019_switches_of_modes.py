from django.db import migrations

# As for `enabled`: what is no switch is never found by a source in the making, whoever wrote it.
GUARD = """
ALTER TABLE payments_merchant
ADD CONSTRAINT merchant_payment_methods_switch_modes CHECK (
    NOT jsonb_path_exists(payment_method_settings, '$.*.test ? (@.type() != "boolean")', '{}', true)
    AND NOT jsonb_path_exists(payment_method_settings, '$.*.live ? (@.type() != "boolean")', '{}', true));
"""
UNGUARD = "ALTER TABLE payments_merchant DROP CONSTRAINT merchant_payment_methods_switch_modes;"


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0018_exports'),
    ]

    operations = [migrations.RunSQL(GUARD, UNGUARD)]
