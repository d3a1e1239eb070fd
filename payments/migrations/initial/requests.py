"""Create the log of the requests to the API, in a table with a partition for each day."""

import payments.ids
from django.db import migrations, models
from django.db.models import F

from payments import clock
from payments.db.partitions import REQUESTS, make
from payments.migrations.initial import run_sql


def make_first_day(apps, schema_editor):
    """Make the day of today; it holds all that is older too."""
    with schema_editor.connection.cursor() as cursor:
        make(cursor, REQUESTS, clock.now().date(), first=True)


OPERATIONS = [
    run_sql("requests"),
    migrations.SeparateDatabaseAndState(
        state_operations=[
            migrations.CreateModel(
                name="ApiRequest",
                fields=[
                    ("id", models.UUIDField(default=payments.ids.new_id, editable=False, primary_key=True, serialize=False)),
                    ("request_id", models.UUIDField()),
                    ("livemode", models.BooleanField()),
                    ("method", models.CharField(max_length=10)),
                    ("path", models.CharField(max_length=200)),
                    ("status", models.PositiveSmallIntegerField()),
                    ("milliseconds", models.PositiveIntegerField()),
                    ("created_at", models.DateTimeField()),
                    ("merchant", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.merchant")),
                    ("api_key", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="payments.apikey")),
                ],
                options={
                    "indexes": [
                        models.Index(F("merchant"), F("livemode"), F("id"), name="request_of_merchant"),
                        models.Index(F("request_id"), name="request_by_its_id"),
                    ],
                },
            ),
        ]
    ),
    migrations.RunPython(make_first_day),
]
