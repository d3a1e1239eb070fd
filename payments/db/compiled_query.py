"""Queries that are asked at each request: the ORM says what they read, and compiles that once.

Compiling takes the ORM longer than the rest of the question. Here it is done for the first call, with a slot in the
text for each value that calls give; later ones fill the slots and make instances of the rows.
"""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Generic, ParamSpec, TypeVar
from uuid import UUID

from django.db import connection, models
from django.db.models import Model, QuerySet, Value

from payments.db.json_prefetch import Hanging
from payments.db.row_mapper import Maker

Given = ParamSpec("Given")
Row = TypeVar("Row", bound=Model)
Converters = dict[int, tuple[list[Callable[..., Any]], Any]]

# What may have a slot, and as what the ORM takes it; the driver takes all of them as they are.
FIELDS: "dict[type, Callable[[], models.Field[Any, Any]]]" = {
    UUID: models.UUIDField,
    str: models.CharField,
    bytes: models.BinaryField,
    datetime: models.DateTimeField,
}
# How many texts of one query are kept: those asked for last.
MOST_TEXTS = 128


class Slot(Value):
    """Where in a query a value goes that each call gives."""

    def __init__(self, name: str, kind: type) -> None:
        super().__init__(name, output_field=FIELDS[kind]())

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]


class Frozen(Generic[Given, Row]):
    """The query that `build` makes of named values, called with these for its rows; `build` itself is the ORM's.

    Other values give another text where they are None, booleans or whole numbers (limits, of which there are few): each
    such text is made once. Whatever else a call changes it must give as a value: `build` runs for the first call
    only, and a moment that it reads itself is refused. Of joins it knows `select_related`, and of what hangs on rows a
    `Prefetch` with a queryset and `to_attr`, whose rows come with the others: in one statement, so that all of them
    stand as they stood at one moment.
    """

    def __init__(self, build: Callable[Given, QuerySet[Row]]) -> None:
        self.build: Callable[..., QuerySet[Row]] = build
        self._text = lru_cache(MOST_TEXTS)(self._compile)

    def __call__(self, *args: Given.args, **values: Given.kwargs) -> list[Row]:
        """The rows, in order. All values are given by name."""
        kinds = tuple([(name, _written(value)) for name, value in values.items()])
        return self._text(kinds).ask(values)

    def first(self, *args: Given.args, **values: Given.kwargs) -> Row | None:
        """The first row, for a query that finds one at most or says in which order."""
        return next(iter(self(*args, **values)), None)

    def _compile(self, kinds: tuple[tuple[str, Any], ...]) -> "Text":
        given = {name: Slot(name, kind) if isinstance(kind, type) else kind for name, kind in kinds}
        return Text(self.build(**given))


class Text:
    """One query as PostgreSQL is asked it, and how its rows are read."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        lookups = rows._prefetch_related_lookups  # type: ignore[attr-defined] # the ORM's own place for them
        self._hanging = [Hanging.of(rows.model, lookup) for lookup in lookups]
        hanging = {each.attribute: each.column() for each in self._hanging}
        compiler = rows.prefetch_related(None).annotate(**hanging).query.get_compiler(connection=connection)
        self._sql, params = compiler.as_sql()
        if any(isinstance(param, datetime) for param in params):
            raise TypeError("A moment that is not given would be the same for all calls.")
        self._params = list(params)
        self._slots = [(place, param.value) for place, param in enumerate(params) if isinstance(param, Slot)]
        self._converters: Converters = compiler.get_converters([column for column, _, _ in compiler.select])
        self._maker = Maker.of(compiler.klass_info, compiler.select)
        self._annotations = list(compiler.annotation_col_map.items())

    def ask(self, values: dict[str, Any]) -> list[Any]:
        params = self._params.copy()
        for place, name in self._slots:
            params[place] = values[name]
        with connection.cursor() as cursor:
            cursor.execute(self._sql, params)
            return [self._made(row) for row in cursor.fetchall()]

    def _made(self, row: tuple[Any, ...]) -> Any:
        if self._converters:
            row = _converted(row, self._converters)
        instance = self._maker.make(row)
        for name, place in self._annotations:
            setattr(instance, name, row[place])
        for hanging in self._hanging:
            hanging.put_on(instance)
        return instance


def _written(value: Any) -> Any:
    """What of `value` decides the text: its type where it has a slot there, else itself."""
    return value if value is None or isinstance(value, int) else type(value)


def _converted(row: tuple[Any, ...], converters: Converters) -> tuple[Any, ...]:
    """As the ORM's fields take the values from the driver."""
    values = list(row)
    for place, (steps, column) in converters.items():
        for convert in steps:
            values[place] = convert(values[place], column, connection)
    return tuple(values)
