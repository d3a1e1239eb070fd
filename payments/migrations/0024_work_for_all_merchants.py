from django.conf import settings
from django.db import migrations

ALL_MERCHANTS = "all merchants"


def mark_who_worked_for_all(apps, schema_editor):
    """Whoever was limited to no merchant worked for all of them, and goes on doing so."""
    operators = apps.get_model("auth", "User").objects.filter(is_staff=True, is_superuser=False, merchant_access=None)
    mark, _ = apps.get_model("auth", "Group").objects.get_or_create(name=ALL_MERCHANTS)
    # The right itself is given to the group where the roles are made, when the migration is over.
    mark.user_set.add(*operators)


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0023_webhooks'),
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='merchantaccess',
            options={
                'default_permissions': (),
                'permissions': [('work_for_all_merchants', 'Works for all merchants')],
                'verbose_name': 'merchant that they work for',
                'verbose_name_plural': 'merchants that they work for, if not for all',
            },
        ),
        migrations.RunPython(mark_who_worked_for_all, migrations.RunPython.noop),
    ]
