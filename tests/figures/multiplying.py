"""Many charges from some: each with its source, card and first attempt, again and again, a second earlier each time."""

from django.db import connection, models

from payments.models import Attempt, Card, Charge, Source

BATCH = 10
# An ID of its own for each copy: the same time but for `number` seconds, and the rest by chance.
MOVED = """
CREATE FUNCTION pg_temp.moved(id uuid, number int) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (
        lpad(to_hex(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint - number * 1000), 12, '0')
        || '7' || left(md5(id::text || number), 3) || '8' || substr(md5(id::text || number), 4, 15)
    )::uuid
$$
"""
TABLES: dict[type[models.Model], tuple[str, ...]] = {
    Source: ("id",),
    Card: ("id", "source_id"),
    Charge: ("id", "source_id"),
    Attempt: ("id", "charge_id"),
}
# Only what is over: others would be due, and those of refunds belong to these.
ORIGINALS = {Attempt: "kind = 'authorize' AND state = 'done'"}
PLACED = {"idempotency_id": "NULL", "refund_id": "NULL"}


def multiply(copies: int) -> None:
    """Puts `copies` of every charge beside it, and looks at the tables anew."""
    with connection.cursor() as cursor:
        cursor.execute(MOVED)
        # Every row points to another copy, so nobody need look.
        cursor.execute("SET session_replication_role = replica; SET statement_timeout = 0")
        for model, moved in TABLES.items():
            originals, copied = _statements(model, moved)
            cursor.execute(f"CREATE TEMPORARY TABLE originals AS {originals}")
            for first in range(1, copies + 1, BATCH):
                cursor.execute(copied, [first, min(first + BATCH - 1, copies)])
            cursor.execute("DROP TABLE originals")
        cursor.execute("RESET session_replication_role")
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("RESET statement_timeout")


def _statements(model: type[models.Model], moved: tuple[str, ...]) -> tuple[str, str]:
    """What takes the originals of a table down, and what copies them for a range of numbers."""
    table, columns = model._meta.db_table, [str(field.column) for field in model._meta.concrete_fields]
    values = [f"pg_temp.moved({name}, number)" if name in moved else PLACED.get(name, name) for name in columns]
    names, condition = ", ".join(columns), ORIGINALS.get(model, "true")
    copied = f"SELECT {', '.join(values)} FROM originals, generate_series(%s::int, %s::int) number"
    return f"SELECT * FROM {table} WHERE {condition}", f"INSERT INTO {table} ({names}) {copied}"
