"""What each write pays for."""

import pytest
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
