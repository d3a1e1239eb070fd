from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0020_extended_holds'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='apikey',
            options={'verbose_name': 'API key'},
        ),
        migrations.AlterModelOptions(
            name='binrange',
            options={'verbose_name': 'BIN range'},
        ),
    ]
