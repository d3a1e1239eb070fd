"""Many rows from some: each again and again, a second earlier each time, with other IDs. Needs Django's settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import connection, models

BATCH = 10
# An ID of its own for each copy: the same time but for `number` seconds, and the rest by chance.
MOVED = """
CREATE OR REPLACE FUNCTION pg_temp.moved(id uuid, number int) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (
        lpad(to_hex(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint - number * 1000), 12, '0')
        || '7' || left(md5(id::text || number), 3) || '8' || substr(md5(id::text || number), 4, 15)
    )::uuid
$$
"""


@dataclass(frozen=True)
class Table:
    """Whose rows are copied, if `condition` holds: the IDs of `moved` columns are the copy's, `placed` are SQL."""

    model: type[models.Model]
    moved: Sequence[str] = ("id",)
    placed: Mapping[str, str] = field(default_factory=dict)
    condition: str = "true"

    def originals(self) -> str:
        return f"SELECT * FROM {self.model._meta.db_table} WHERE {self.condition}"  # nosec B608 # no value in it

    def copied(self) -> str:
        """Return what copies the originals once for each number of a range; `placed` may speak of `number`."""
        columns = [str(column.column) for column in self.model._meta.concrete_fields]
        values = [f"pg_temp.moved({name}, number)" if name in self.moved else self._same(name) for name in columns]
        copied = f"SELECT {', '.join(values)} FROM originals, generate_series(%s::int, %s::int) number"  # nosec B608 # no value in it
        return f"INSERT INTO {self.model._meta.db_table} ({', '.join(map(_quoted, columns))}) {copied}"

    def _same(self, column: str) -> str:
        return self.placed.get(column, _quoted(column))


def _quoted(column: str) -> str:
    return f'"{column}"'


def multiply(copies: int, tables: Sequence[Table]) -> None:
    """Put `copies` of every row beside it, and have PostgreSQL analyze the tables."""
    with connection.cursor() as cursor:
        cursor.execute(MOVED)
        # Every row points to another copy, so nobody need look.
        cursor.execute("SET session_replication_role = replica; SET statement_timeout = 0")
        connection.connection.answer_seconds = None
        try:
            for table in tables:
                cursor.execute(f"CREATE TEMPORARY TABLE originals AS {table.originals()}")
                for first in range(1, copies + 1, BATCH):
                    cursor.execute(table.copied(), [first, min(first + BATCH - 1, copies)])
                cursor.execute("DROP TABLE originals")
        finally:
            # The test may use this connection later and needs its triggers.
            cursor.execute("RESET session_replication_role; DROP TABLE IF EXISTS originals")
        cursor.execute("SELECT payments_sum_balances()")
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("RESET statement_timeout")
