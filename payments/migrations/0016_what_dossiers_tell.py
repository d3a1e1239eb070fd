import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0015_blocks'),
    ]

    operations = [
        migrations.CreateModel(
            name='PageVisit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page', models.CharField(choices=[('asked', 'Was asked to confirm'), ('decided', 'Decided'), ('came_back', 'Came back')], max_length=9)),
                ('address', models.CharField(blank=True, max_length=45)),
                ('browser', models.CharField(max_length=20)),
                ('times', models.PositiveIntegerField(default=1)),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
                ('charge', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='page_visits', to='payments.charge')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.AddIndex(
            model_name='pagevisit',
            index=models.Index(models.F('last_at'), name='page_visit_age'),
        ),
        migrations.AddConstraint(
            model_name='pagevisit',
            constraint=models.UniqueConstraint(models.F('charge'), models.F('page'), models.F('address'), models.F('browser'), name='page_visits_are_counted_once'),
        ),
        migrations.AddConstraint(
            model_name='pagevisit',
            constraint=models.CheckConstraint(condition=models.Q(('last_at__gte', models.F('first_at')), ('times__gte', 1)), name='page_visit_happened'),
        ),
        migrations.AddField(
            model_name='attempt',
            name='answer_status',
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='attempt',
            name='api_key',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.apikey'),
        ),
        migrations.AddField(
            model_name='attempt',
            name='idempotency_key',
            field=models.CharField(blank=True, default='', max_length=255),
        ),
        migrations.AddField(
            model_name='event',
            name='api_key',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='payments.apikey'),
        ),
    ]
