"""What PostgreSQL plans for a statement of every charge: once for a connection, whatever the tables hold."""

from django.db import connection

from payments import clock
from payments.domain import prepared_reads
from payments.ids import parse_id
from payments.models import Source
from tests.client import Api

COPY = """
WITH copies AS (SELECT gen_random_uuid() AS id FROM generate_series(1, 3000)), sources AS (
    INSERT INTO payments_source
    SELECT (jsonb_populate_record(s, jsonb_build_object('id', copies.id))).* FROM payments_source s, copies
)
INSERT INTO payments_card
SELECT (jsonb_populate_record(c, jsonb_build_object('id', copies.id, 'source_id', copies.id))).*
FROM payments_card c, copies
"""
# psycopg prepares a statement that was sent so often; then PostgreSQL makes as many plans for given values.
SENT = 5
PLANS = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT%block_id%'"


def test_the_read_of_a_source_is_planned_once_where_many_sources_have_its_card(api: Api) -> None:
    source = Source.objects.get(id=parse_id("src", api.source()))
    with connection.cursor() as cursor:
        cursor.execute(COPY)
        cursor.execute("ANALYZE payments_source, payments_card, payments_block")
        cursor.execute("DEALLOCATE ALL")
    values = {"merchant_id": source.merchant_id, "livemode": False, "address": "", "now": clock.now()}
    for _ in range(3 * SENT):
        assert prepared_reads.source_to_charge(source_id=source.id, **values)
    with connection.cursor() as cursor:
        cursor.execute(PLANS)
        assert cursor.fetchall() == [(SENT, SENT)]
