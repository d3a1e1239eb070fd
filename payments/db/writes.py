"""Several guarded writes in one SQL statement: one round trip, and all of them or none.

PostgreSQL runs data-modifying WITH clauses as one statement. Django has no call for that, and would compile each part
every time. Here the SQL is built once per shape, and a call only collects the values: to open a charge takes 0.26 ms
of processor time instead of 1.9 (six writes, 83 values).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DataError, ProgrammingError, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import CardinalityViolation, DivisionByZero

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
from payments.db.numbered_cursor import send

# The SQL of a write with a `%s` for each parameter, and the parameters.
Compiled = tuple[str, Sequence[Any]]
INSERT, RETURNING = "INSERT INTO ", " RETURNING 1"
# The column that says whose row it is.
OWNER = "merchant_id"
# True; the transaction's commit does not wait for the disk or a standby. It is lost in a crash unless a later commit
# waited, whose log is written after it.
QUICK = "set_config('synchronous_commit', 'off', true) = 'off'"


class StaleRow(Exception):
    """A guarded write did not match exactly one row: another transaction has changed it."""


@dataclass(frozen=True)
class Insert:
    """An INSERT of `row`, an unsaved instance whose primary key is set unless the database assigns it.

    `after_commit` is called once after the commit, however many writes of the statement name the same function.
    """

    row: models.Model
    after_commit: Callable[[], None] | None = None
    count = 1

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        return _insert(type(self.row), 1, RETURNING), cells_of(self.row, connection)


@dataclass(frozen=True)
class BulkInsert:
    """An INSERT of several rows of one model, at least one; their primary keys are set."""

    rows: Sequence[models.Model]

    @property
    def count(self) -> int:
        return len(self.rows)

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        params = [cell for row in self.rows for cell in cells_of(row, connection)]
        return _insert(type(self.rows[0]), len(self.rows), RETURNING), params


@dataclass(frozen=True)
class Update:
    """A guarded UPDATE of the one row that has the values of `match`; None is NULL in `match` and `values`."""

    model: Model
    match: Mapping[str, Any]
    values: Mapping[str, Any]
    count = 1

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        text = _update(self.model, tuple(self.values), guards_of(self.match))
        return text, prepared(self.model, self.values, connection) + _matched(self, connection)


@dataclass(frozen=True)
class Delete:
    """A guarded DELETE of the one row that has the values of `match`."""

    model: Model
    match: Mapping[str, Any]
    count = 1

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        return _delete(self.model, guards_of(self.match)), _matched(self, connection)


@dataclass(frozen=True)
class LockShared:
    """A `FOR SHARE` lock on the one row that has the values of `match`, until the transaction ends."""

    model: Model
    match: Mapping[str, Any]
    count = 1

    def compile(self, connection: BaseDatabaseWrapper) -> Compiled:
        return _require(self.model, guards_of(self.match)), _matched(self, connection)


Guarded = Update | Delete | LockShared
Write = Insert | BulkInsert | Guarded


def execute_writes(*writes: Write, quick: bool = False) -> None:
    """Execute all `writes` in one statement, or none of them; no row may be written twice.

    They are executed in their order up to the last guarded one, the first in any case; the inserts after it in any.
    Where `quick`, the commit does not wait for the disk.
    Raises StaleRow unless each guarded write matches one row, and IntegrityError if a constraint forbids a write.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    parts = _joined(writes)
    compiled = [write.compile(connection) for write in parts]
    text = _statement(tuple([(text, write.count) for (text, _), write in zip(compiled, parts, strict=True)]), quick)
    params = [param for _, params in compiled for param in params]
    try:
        send(connection, text, params)
    except (DataError, ProgrammingError) as error:
        if isinstance(error.__cause__, DivisionByZero | CardinalityViolation):
            raise StaleRow from None
        raise
    for callback in {write.after_commit for write in writes if isinstance(write, Insert) and write.after_commit}:
        transaction.on_commit(callback, robust=True)


def execute_writes_in_savepoint(*writes: Write, quick: bool = False) -> None:
    """Execute `writes` as `execute_writes` does, in a savepoint of the open transaction, which survives a failure.

    Without an open transaction the statement is its own, and needs no `BEGIN` and `COMMIT`.
    """
    with transaction.atomic() if connections[DEFAULT_DB_ALIAS].in_atomic_block else nullcontext():
        execute_writes(*writes, quick=quick)


def insert_if_absent(row: models.Model) -> bool:
    """Insert `row` unless a unique constraint forbids it; return whether it was inserted.

    Waits for a transaction that is inserting the same row.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    text = _insert(type(row), 1, " ON CONFLICT DO NOTHING")
    return bool(send(connection, text, cells_of(row, connection)).rowcount)


def delete_in_batches(rows: models.QuerySet[Any], batch: int) -> int:
    """Delete all of `rows` in their order, at most `batch` in a statement, so that no lock is long; return how many."""
    total = 0
    while found := list(rows.values_list("pk", flat=True)[:batch]):
        rows.filter(pk__in=found).delete()
        total += len(found)
    return total


def _joined(writes: Sequence[Write]) -> list[Write]:
    """Return `writes` with one INSERT for all rows of a model after the last guarded write."""
    last_guarded = max([number for number, write in enumerate(writes) if isinstance(write, Guarded)], default=0)
    rows: dict[Model, list[models.Model]] = {}
    for write in writes[last_guarded + 1 :]:
        for row in write.rows if isinstance(write, BulkInsert) else [write.row]:  # type: ignore[union-attr] # guarded ones are before
            rows.setdefault(type(row), []).append(row)
    return [*writes[: last_guarded + 1], *map(BulkInsert, rows.values())]


@lru_cache(maxsize=512)
def _statement(parts: tuple[tuple[str, int], ...], quick: bool) -> str:
    """Return the statement of `parts`: the SQL of each, and how many rows it must match.

    PostgreSQL executes a part when its rows are counted, and the others in the end. Those are inserts, which insert
    all their rows or fail; to count them too took 4 % of what it spends on a charge.
    """
    last_guarded = max((number for number, (text, _) in enumerate(parts) if not text.startswith(INSERT)), default=0)
    counted, others = parts[: last_guarded + 1], parts[last_guarded + 1 :]
    texts = [text for text, _ in counted] + [text.removesuffix(RETURNING) for text, _ in others]
    named = [f"w{number} AS ({text})" for number, text in enumerate(texts)]
    # One row is found without an aggregate, which takes PostgreSQL 6 µs to start; more than one would be an error.
    hits = [
        f"(SELECT 1 FROM w{number}) IS NOT NULL" if count == 1 else f"(SELECT count(*) FROM w{number}) = {count}"  # nosec B608 # no value in it
        for number, (_, count) in enumerate(counted)
    ] + [QUICK] * quick
    # A mismatch divides by zero: only an error makes PostgreSQL undo the other writes of the statement.
    return f"WITH {', '.join(named)} SELECT 1 / (CASE WHEN {' AND '.join(hits)} THEN 1 ELSE 0 END)"


@lru_cache(maxsize=512)
def _insert(model: Model, count: int, then: str) -> str:
    names = new_row_names(model)
    row = f"({', '.join(['%s'] * len(names))})"
    columns = ", ".join(column_of(model, name) for name in names)
    return f"{INSERT}{table_of(model)} ({columns}) VALUES {', '.join([row] * count)}{then}"  # nosec B608 # no value in it


@cache
def _update(model: Model, names: tuple[str, ...], guards: tuple[Guard, ...]) -> str:
    changes = ", ".join(f"{column_of(model, name)} = %s" for name in names)
    return f"UPDATE {table_of(model)} SET {changes} WHERE {_owned(model, guards)}{RETURNING}"  # nosec B608 # no value in it


@cache
def _delete(model: Model, guards: tuple[Guard, ...]) -> str:
    return f"DELETE FROM {table_of(model)} WHERE {_owned(model, guards)}{RETURNING}"  # nosec B608 # no value in it


@cache
def _require(model: Model, guards: tuple[Guard, ...]) -> str:
    return f"SELECT 1 FROM {table_of(model)} WHERE {_owned(model, guards)} FOR SHARE"  # nosec B608 # no value in it


def _owned(model: Model, guards: tuple[Guard, ...]) -> str:
    """Return the WHERE clause of a guarded write. Raise TypeError where a row of a merchant is not bound to it.

    An engine that shards by merchant sends a write that names its merchant to one server, and any other to all.
    """
    if (OWNER, False) not in guards and any(field.attname == OWNER for field in model._meta.concrete_fields):
        raise TypeError(f"A guarded write of {model.__name__} must match {OWNER}.")
    return condition(model, guards)


def _matched(write: Guarded, connection: BaseDatabaseWrapper) -> list[Any]:
    return prepared(write.model, {name: it for name, it in write.match.items() if it is not None}, connection)
