"""Several writes in one statement: fewer round trips, and all of them or none.

PostgreSQL runs the data-modifying parts of a WITH clause as one statement. Django has no such call, so this compiles
each part with Django's own compilers and joins them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db import DataError, connection, models, transaction
from django.db.models import sql
from django.db.models.constants import OnConflict
from psycopg.errors import DivisionByZero


class StaleRow(Exception):
    """A guarded write did not hit exactly one row: somebody else was there first."""


@dataclass(frozen=True)
class Insert:
    """One new row; `row` is an unsaved instance whose primary key is set already.

    `after_commit` is called once it is committed, however many writes of the statement name the same one.
    """

    row: models.Model
    after_commit: Callable[[], None] | None = None
    count = 1

    def compile(self) -> tuple[str, Sequence[Any]]:
        return _compile_insert([self.row], sql.InsertQuery(type(self.row)))


@dataclass(frozen=True)
class InsertAll:
    """New rows of one model, at least one; their primary keys are set already."""

    rows: Sequence[models.Model]

    @property
    def count(self) -> int:
        return len(self.rows)

    def compile(self) -> tuple[str, Sequence[Any]]:
        return _compile_insert(self.rows, sql.InsertQuery(type(self.rows[0])))


@dataclass(frozen=True)
class Update:
    """A guarded update: `rows` states which row in which state, `values` what it becomes; it must hit one row."""

    rows: models.QuerySet[Any]
    values: dict[str, Any]
    count = 1

    def compile(self) -> tuple[str, Sequence[Any]]:
        query = cast(sql.UpdateQuery, self.rows.query.chain(sql.UpdateQuery))
        query.add_update_values(self.values)
        text, params = query.get_compiler(connection=connection).as_sql()
        return text, params


@dataclass(frozen=True)
class Delete:
    """A guarded deletion of exactly one row."""

    rows: models.QuerySet[Any]
    count = 1

    def compile(self) -> tuple[str, Sequence[Any]]:
        text, params = self.rows.query.chain(sql.DeleteQuery).get_compiler(connection=connection).as_sql()
        return text, params


Write = Insert | InsertAll | Update | Delete


def write_together(*writes: Write) -> None:
    """Does all `writes` in one statement, or none of them; no row may be written twice.

    Raises StaleRow when an Update or Delete did not hit one row, IntegrityError when a constraint forbids a write.
    """
    parts: list[str] = []
    params: list[Any] = []
    for number, write in enumerate(writes):
        text, values = write.compile()
        parts.append(f"w{number} AS ({text} RETURNING 1)")
        params.extend(values)
    counts = [f"(SELECT count(*) FROM w{number})" for number in range(len(writes))]  # nosec B608 # no value in it
    # A miss divides by zero, because an error is what makes PostgreSQL undo the other writes of the statement.
    all_hit = " AND ".join(f"{hit} = {write.count}" for hit, write in zip(counts, writes, strict=True))
    statement = f"WITH {', '.join(parts)} SELECT 1 / (CASE WHEN {all_hit} THEN 1 ELSE 0 END)"
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, params)
    except DataError as error:
        if isinstance(error.__cause__, DivisionByZero):
            raise StaleRow from None
        raise
    for callback in {write.after_commit for write in writes if isinstance(write, Insert) and write.after_commit}:
        transaction.on_commit(callback, robust=True)


def insert_if_absent(row: models.Model) -> bool:
    """Inserts `row` unless a unique constraint has one already; True when it was inserted.

    Waits for a transaction that is inserting the same one.
    """
    text, params = _compile_insert([row], sql.InsertQuery(type(row), on_conflict=OnConflict.IGNORE))
    with connection.cursor() as cursor:
        cursor.execute(text, params)
        return cursor.rowcount == 1


def _compile_insert(rows: Sequence[models.Model], query: sql.InsertQuery) -> tuple[str, Sequence[Any]]:
    query.insert_values(type(rows[0])._meta.concrete_fields, list(rows))
    [(text, params)] = query.get_compiler(connection=connection).as_sql()
    return text, params
