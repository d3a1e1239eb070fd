"""Several writes in one statement: fewer round trips, and all of them or none.

PostgreSQL runs the data-modifying parts of a WITH clause as one statement. Django has no such call, and would compile
each part anew each time: here a text is made once for each shape, and a call only gathers the values. For the opening
of a charge that takes 0.26 ms of processor time instead of 1.9 (six writes, 83 values).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DataError, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import DivisionByZero

from payments.db.columns import (
    Guard,
    Model,
    cells_of,
    column_of,
    condition,
    guards_of,
    new_row_names,
    prepared,
    table_of,
)
from payments.db.prepared import send

# The text of a write, with a `%s` for each of its parameters.
Compiled = tuple[str, Sequence[Any]]


class StaleRow(Exception):
    """A guarded write did not hit exactly one row: somebody else was there first."""


@dataclass(frozen=True)
class Insert:
    """One new row; `row` is an unsaved instance whose primary key is set already, unless the database numbers it.

    `after_commit` is called once it is committed, however many writes of the statement name the same one.
    """

    row: models.Model
    after_commit: Callable[[], None] | None = None
    count = 1

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        return _insert(type(self.row), 1, "RETURNING 1"), cells_of(self.row, connection)


@dataclass(frozen=True)
class InsertAll:
    """New rows of one model, at least one; their primary keys are set already."""

    rows: Sequence[models.Model]

    @property
    def count(self) -> int:
        return len(self.rows)

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        params = [cell for row in self.rows for cell in cells_of(row, connection)]
        return _insert(type(self.rows[0]), len(self.rows), "RETURNING 1"), params


@dataclass(frozen=True)
class Update:
    """A guarded update: the one row that has the values of `match` gets `values`; None is NULL in both."""

    model: Model
    match: Mapping[str, Any]
    values: Mapping[str, Any]
    count = 1

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        text = _update(self.model, tuple(self.values), guards_of(self.match))
        return text, prepared(self.model, self.values, connection) + _looked_for(self, connection)


@dataclass(frozen=True)
class Delete:
    """A guarded deletion of the one row that has the values of `match`."""

    model: Model
    match: Mapping[str, Any]
    count = 1

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        return _delete(self.model, guards_of(self.match)), _looked_for(self, connection)


@dataclass(frozen=True)
class Require:
    """Writes nothing: the one row that has the values of `match` is kept as it is until the transaction ends."""

    model: Model
    match: Mapping[str, Any]
    count = 1

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        return _require(self.model, guards_of(self.match)), _looked_for(self, connection)


Guarded = Update | Delete | Require
Write = Insert | InsertAll | Guarded


def write_together(*writes: Write) -> None:
    """Does all `writes` in one statement, or none of them; no row may be written twice.

    Raises StaleRow when a guarded write did not hit one row, IntegrityError when a constraint forbids a write.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    compiled = [write.compile(connection) for write in writes]
    text = _statement(tuple((text, write.count) for (text, _), write in zip(compiled, writes, strict=True)))
    params = [param for _, params in compiled for param in params]
    try:
        send(connection, text, params).close()
    except DataError as error:
        if isinstance(error.__cause__, DivisionByZero):
            raise StaleRow from None
        raise
    for callback in {write.after_commit for write in writes if isinstance(write, Insert) and write.after_commit}:
        transaction.on_commit(callback, robust=True)


def write_alone(*writes: Write) -> None:
    """As `write_together`; what fails is undone alone, and leaves an open transaction as it was before.

    Outside of one the statement is a transaction of its own, and no `BEGIN` and `COMMIT` go with it.
    """
    with transaction.atomic() if connections[DEFAULT_DB_ALIAS].in_atomic_block else nullcontext():
        write_together(*writes)


def insert_if_absent(row: models.Model) -> bool:
    """Inserts `row` unless a unique constraint has one already; True when it was inserted.

    Waits for a transaction that is inserting the same one.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    text = _insert(type(row), 1, "ON CONFLICT DO NOTHING")
    with send(connection, text, cells_of(row, connection)) as cursor:
        return bool(cursor.rowcount)


@lru_cache(maxsize=512)
def _statement(parts: tuple[tuple[str, int], ...]) -> str:
    """The parts of a statement by their texts, with how many rows each must hit."""
    named = [f"w{number} AS ({text})" for number, (text, _) in enumerate(parts)]
    hits = [f"(SELECT count(*) FROM w{number}) = {count}" for number, (_, count) in enumerate(parts)]  # nosec B608 # no value in it
    # A miss divides by zero, because an error is what makes PostgreSQL undo the other writes of the statement.
    return f"WITH {', '.join(named)} SELECT 1 / (CASE WHEN {' AND '.join(hits)} THEN 1 ELSE 0 END)"


@lru_cache(maxsize=512)
def _insert(model: Model, count: int, then: str) -> str:
    names = new_row_names(model)
    row = f"({', '.join(['%s'] * len(names))})"
    columns = ", ".join(column_of(model, name) for name in names)
    return f"INSERT INTO {table_of(model)} ({columns}) VALUES {', '.join([row] * count)} {then}"  # nosec B608 # no value in it


@cache
def _update(model: Model, names: tuple[str, ...], guards: tuple[Guard, ...]) -> str:
    changes = ", ".join(f"{column_of(model, name)} = %s" for name in names)
    return f"UPDATE {table_of(model)} SET {changes} WHERE {condition(model, guards)} RETURNING 1"  # nosec B608 # no value in it


@cache
def _delete(model: Model, guards: tuple[Guard, ...]) -> str:
    return f"DELETE FROM {table_of(model)} WHERE {condition(model, guards)} RETURNING 1"  # nosec B608 # no value in it


@cache
def _require(model: Model, guards: tuple[Guard, ...]) -> str:
    return f"SELECT 1 FROM {table_of(model)} WHERE {condition(model, guards)} FOR SHARE"  # nosec B608 # no value in it


def _looked_for(write: Guarded, connection: BaseDatabaseWrapper) -> list[Any]:
    return prepared(write.model, {name: it for name, it in write.match.items() if it is not None}, connection)
