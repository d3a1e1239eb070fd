"""What each write pays for."""

import pytest
from django.apps import apps
from django.db import connection

# Indexes of our tables that hold all rows, whose columns are the first ones of another such index.
REPEATED = """
    SELECT less.indexrelid::regclass::text
    FROM pg_index less
    JOIN pg_index more ON more.indrelid = less.indrelid AND more.indexrelid <> less.indexrelid
    JOIN pg_class kind ON kind.oid = less.indexrelid
    JOIN pg_class other ON other.oid = more.indexrelid AND other.relam = kind.relam
    WHERE less.indrelid::regclass::text ~ '^(payments|customers|simulator)_' AND NOT less.indisunique
        AND less.indpred IS NULL AND more.indpred IS NULL AND less.indexprs IS NULL
        AND more.indkey::text || ' ' LIKE less.indkey::text || ' %'
        AND more.indclass::text || ' ' LIKE less.indclass::text || ' %'
"""


@pytest.mark.django_db
def test_no_index_repeats_the_beginning_of_another() -> None:
    with connection.cursor() as cursor:
        cursor.execute(REPEATED)
        assert not cursor.fetchall()


# A partitioned table cannot keep what does not begin with its key: its partitions do, or its primary key is the same.
OF_PARTITIONS = {"event_sequence_once_per_object", "attempt_number_once_per_webhook"}


@pytest.mark.django_db
def test_the_database_has_each_index_and_constraint_of_a_model() -> None:
    """Django drops an index of the same column along with that of a foreign key, and says nothing."""
    for model in apps.get_models():
        if model._meta.app_label in {"payments", "customers", "simulator"} and not model._meta.proxy:
            named = {one.name for one in (*model._meta.indexes, *model._meta.constraints)} - OF_PARTITIONS
            with connection.cursor() as cursor:
                found = connection.introspection.get_constraints(cursor, model._meta.db_table)
            assert named <= found.keys()
