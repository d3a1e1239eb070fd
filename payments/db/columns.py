"""Columns of models in SQL: texts made once for each shape, and values as psycopg takes them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, TypeAlias, cast

from django.db import connection as proxy
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

Model = type[models.Model]
Field: TypeAlias = "models.Field[Any, Any]"
# A name, and whether the value looked for is NULL.
Guard = tuple[str, bool]

# Exactly these take from Python what psycopg sends; every other field is asked for each value.
PLAIN = {
    models.BigIntegerField,
    models.BinaryField,
    models.BooleanField,
    models.CharField,
    models.DateField,
    models.DateTimeField,
    models.IntegerField,
    models.PositiveBigIntegerField,
    models.PositiveIntegerField,
    models.PositiveSmallIntegerField,
    models.SmallIntegerField,
    models.TextField,
    models.UUIDField,
}


def quoted(name: str) -> str:
    return proxy.ops.quote_name(name)


@cache
def table_of(model: Model) -> str:
    return quoted(model._meta.db_table)


@cache
def column_of(model: Model, name: str) -> str:
    """The column of a field; `name` may be that of a foreign key or of its ID."""
    return quoted(cast(str, _field(model, name).column))


@cache
def new_row_names(model: Model) -> tuple[str, ...]:
    """The names of what a new row is given, all but a number that the database gives it."""
    fields = model._meta.concrete_fields
    return tuple(field.attname for field in fields if not isinstance(field, models.AutoField))


def condition(model: Model, guards: Sequence[Guard]) -> str:
    """That a row of `model` has the values guarded, each `%s` where it is not NULL."""
    columns = ((f"{table_of(model)}.{column_of(model, name)}", is_null) for name, is_null in guards)
    return " AND ".join(f"{column} IS NULL" if is_null else f"{column} = %s" for column, is_null in columns)


def guards_of(match: Mapping[str, Any]) -> tuple[Guard, ...]:
    return tuple((name, value is None) for name, value in match.items())


def cells_of(row: models.Model, connection: BaseDatabaseWrapper) -> list[Any]:
    """The parameters of a new row, in the order of its model's `new_row_names`."""
    take, asked = _taking(type(row))
    cells = list(take(vars(row)))
    for place, field in asked:
        cells[place] = field.get_db_prep_save(field.pre_save(row, add=True), connection)
    return cells


def prepared(model: Model, values: Mapping[str, Any], connection: BaseDatabaseWrapper) -> list[Any]:
    """The parameters of some of a row's values, in their order."""
    params = list(values.values())
    for place, field in _asked(model, tuple(values)):
        params[place] = field.get_db_prep_save(params[place], connection)
    return params


@cache
def _taking(model: Model) -> tuple[Callable[[dict[str, Any]], tuple[Any, ...]], Sequence[tuple[int, Field]]]:
    """How the values of a row are taken from its attributes, and which fields are asked for theirs, by their places."""
    names = new_row_names(model)
    return itemgetter(*names), _asked(model, names)


@cache
def _asked(model: Model, names: tuple[str, ...]) -> Sequence[tuple[int, Field]]:
    fields = enumerate(_field(model, name) for name in names)
    return [(place, field) for place, field in fields if not _is_plain(field)]


def _is_plain(field: Field) -> bool:
    target = field.target_field if isinstance(field, models.ForeignKey) else field
    sets_itself = getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)
    return type(target) in PLAIN and not sets_itself


def _field(model: Model, name: str) -> Field:
    return cast(Field, model._meta.get_field(name))
