"""Queries of every request, which the ORM compiles once instead of at each call.

To compile a query takes the ORM longer than to run it. The first call compiles it, with a placeholder for each value;
later calls fill the placeholders and map the rows to instances.
"""

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, Generic, ParamSpec, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models import Model, QuerySet, Value
from psycopg.sql import quote

from payments.db.json_prefetch import JsonPrefetch, lookups_of
from payments.db.numbered_cursor import send
from payments.db.row_mapper import RowMapper, ShownRow

Given = ParamSpec("Given")
Row = TypeVar("Row", bound=Model)
Converters = dict[int, tuple[list[Callable[..., Any]], Any]]

# Types of values that get a placeholder, and their fields; the driver takes all of them as they are.
FIELDS: "dict[type, Callable[[], models.Field[Any, Any]]]" = {
    UUID: models.UUIDField,
    str: models.CharField,
    bytes: models.BinaryField,
    datetime: models.DateTimeField,
}
# How many compiled statements of one query are cached.
MOST_STATEMENTS = 128


class Placeholder(Value):
    """The place in a query of a value that each call passes."""

    def __init__(self, name: str, kind: type) -> None:
        super().__init__(name, output_field=FIELDS[kind]())

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]


class CompiledQuery(Generic[Given, Row]):
    """A query that `build` returns for named values; call it with the values for its rows.

    `build` runs for the first call only, so everything that differs between calls must be a value; a datetime that
    `build` reads itself raises TypeError. None, booleans and whole numbers (limits, of which there are few) become
    part of the statement, which is compiled once for each of them. It supports `select_related`, and a `Prefetch`
    with a queryset and `to_attr`, whose rows come in the same statement and so from the same snapshot.

    Rows `for_rendering` are no instances (see ShownRow), and their moments and IDs are PostgreSQL's texts, which `iso`
    and `public_id` take.
    """

    def __init__(self, build: Callable[Given, QuerySet[Row]], for_rendering: bool = False) -> None:
        self.build: Callable[..., QuerySet[Row]] = build
        self._for_rendering = for_rendering
        self._statement = lru_cache(MOST_STATEMENTS)(self._compile)

    def __call__(self, *args: Given.args, **values: Given.kwargs) -> list[Row]:
        """Return the rows, in order. Pass all values by name."""
        # The SQL depends on the type of a value that gets a placeholder, and on any other value itself.
        kinds = [(name, it if it is None or isinstance(it, int) else type(it)) for name, it in values.items()]
        return self._statement(tuple(kinds)).fetch(values)

    def first(self, *args: Given.args, **values: Given.kwargs) -> Row | None:
        """Return the first row or None, for a query that is ordered or finds one row at most."""
        return next(iter(self(*args, **values)), None)

    def _compile(self, kinds: tuple[tuple[str, Any], ...]) -> "CompiledStatement":
        given = {name: Placeholder(name, kind) if isinstance(kind, type) else kind for name, kind in kinds}
        return CompiledStatement(self.build(**given), self._for_rendering)


class CompiledStatement:
    """The SQL of one query, and how its rows are mapped to instances."""

    def __init__(self, rows: QuerySet[Any], for_rendering: bool) -> None:
        self._for_rendering = for_rendering
        prefetches = [JsonPrefetch.of(rows.model, lookup) for lookup in lookups_of(rows)]
        arrays = {each.attribute: each.column() for each in prefetches}
        compiler = rows.prefetch_related(None).annotate(**arrays).query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        if any(isinstance(param, datetime) for param in params):
            raise TypeError("A datetime that is not passed as a value would be the same for all calls.")
        self._sql = _with_constants(sql, params)
        self._names = [param.value for param in params if isinstance(param, Placeholder)]
        self._converters: Converters = compiler.get_converters([column for column, _, _ in compiler.select])
        self._mapper = RowMapper.of(compiler.klass_info, compiler.select)
        places = compiler.annotation_col_map
        self._prefetches = [(each, places[each.attribute]) for each in prefetches]
        self._annotations = [(name, at) for name, at in places.items() if name not in arrays]
        self._read = self._shown_rows() if for_rendering else self._instance

    def fetch(self, values: dict[str, Any]) -> list[Any]:
        """Return the instances, or the rows for rendering, that the query finds for `values`."""
        params = [values[name] for name in self._names]
        rows = send(connections[DEFAULT_DB_ALIAS], self._sql, params, self._for_rendering).fetchall()
        if self._converters:
            known: dict[tuple[int, Any], Any] = {}
            rows = [self._converted(row, known) for row in rows]
        return list(map(self._read, rows))

    def _converted(self, row: tuple[Any, ...], known: dict[tuple[int, Any], Any]) -> tuple[Any, ...]:
        """Return the row as its fields make it; rows that are only rendered share what is made of the same value."""
        values = list(row)
        for at, (steps, column) in self._converters.items():
            given = at, values[at]
            if self._for_rendering and given in known:
                values[at] = known[given]
                continue
            for convert in steps:
                values[at] = convert(values[at], column, connection)
            if self._for_rendering:
                known[given] = values[at]
        return tuple(values)

    def _instance(self, row: tuple[Any, ...]) -> Any:
        instance = self._mapper.instance(row)
        for name, at in self._annotations:
            setattr(instance, name, row[at])
        for prefetch, at in self._prefetches:
            prefetch.attach(instance, row[at])
        return instance

    def _shown_rows(self) -> type[ShownRow]:
        rows = self._mapper.shown_rows()
        for name, at in self._annotations:
            setattr(rows, name, property(itemgetter(at)))
        for prefetch, at in self._prefetches:
            setattr(rows, prefetch.attribute, prefetch.shown(at))
        return rows


def _with_constants(sql: str, params: Sequence[Any]) -> str:
    """Write what is the same for all calls into the statement.

    PostgreSQL's plan for all values then knows that a partial index serves, and the driver has less to send.
    """
    given = iter(params)

    def written(mark: re.Match[str]) -> str:
        if mark[0] == "%%" or isinstance(param := next(given), Placeholder):
            return mark[0]
        # An array is the path of a member in JSON.
        text = f"{{{','.join(map(json.dumps, param))}}}" if isinstance(param, list) else param
        return quote(text).replace("%", "%%")

    return re.sub("%[%s]", written, sql)
