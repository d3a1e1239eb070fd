"""Columns of models in SQL: texts that are built once per shape, and values as psycopg takes them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, TypeAlias, cast

from django.db import connection as proxy
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from payments.db.texts.writes import kept, looks_at

Model = type[models.Model]
Field: TypeAlias = "models.Field[Any, Any]"
# A field's name, and whether the value to match is NULL.
Guard = tuple[str, bool]

# Fields of exactly these classes send Python values as they are, unless their texts are looked at; every other field
# converts each value.
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
    """Return the column of a field; `name` may be that of a foreign key or of its ID."""
    return quoted(cast(str, _field(model, name).column))


@cache
def new_row_names(model: Model) -> tuple[str, ...]:
    """Return the attributes that an INSERT writes: all but a primary key that the database assigns."""
    fields = model._meta.concrete_fields
    return tuple(field.attname for field in fields if not isinstance(field, models.AutoField))


def condition(model: Model, guards: Sequence[Guard]) -> str:
    """Return the WHERE clause for the guarded values, with a `%s` for each that is not NULL."""
    columns = ((f"{table_of(model)}.{column_of(model, name)}", is_null) for name, is_null in guards)
    return " AND ".join(f"{column} IS NULL" if is_null else f"{column} = %s" for column, is_null in columns)


def guards_of(match: Mapping[str, Any]) -> tuple[Guard, ...]:
    return tuple([(name, value is None) for name, value in match.items()])


def cells_of(row: models.Model, connection: BaseDatabaseWrapper) -> list[Any]:
    """Return the parameters of an INSERT of `row`, in the order of `new_row_names`."""
    take, asked = _taking(type(row))
    cells = list(take(vars(row)))
    for place, field in asked:
        cells[place] = field.get_db_prep_save(kept(field, field.pre_save(row, add=True)), connection)
    return cells


def prepared(model: Model, values: Mapping[str, Any], connection: BaseDatabaseWrapper) -> list[Any]:
    """Return `values` as parameters, in their order."""
    params = list(values.values())
    for place, field in _asked(model, tuple(values)):
        params[place] = field.get_db_prep_save(kept(field, params[place]), connection)
    return params


@cache
def _taking(model: Model) -> tuple[Callable[[dict[str, Any]], tuple[Any, ...]], Sequence[tuple[int, Field]]]:
    """Return a getter of a row's attributes, and the fields that convert their values, by position."""
    names = new_row_names(model)
    return itemgetter(*names), _asked(model, names)


@cache
def _asked(model: Model, names: tuple[str, ...]) -> Sequence[tuple[int, Field]]:
    asked = []
    for place, field in enumerate(_field(model, name) for name in names):
        target = field.target_field if isinstance(field, models.ForeignKey) else field
        sets_itself = getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)
        if type(target) not in PLAIN or sets_itself or looks_at(field):
            asked.append((place, field))
    return asked


def _field(model: Model, name: str) -> Field:
    return cast(Field, model._meta.get_field(name))
