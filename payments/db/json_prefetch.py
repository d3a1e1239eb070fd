"""Rows that hang on others by a foreign key, read in the statement that reads those.

A second query would see what was committed between the two: a refund that its charge does not count yet.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import BinaryField, F, Field, ForeignObject, Func, Model, OuterRef, QuerySet, TextField

from payments.db.row_mapper import Maker

Reader = Callable[[Any], Any]


@dataclass(frozen=True)
class Hanging:
    """Which rows, with what they are joined with, and the attribute in which each row that they hang on has its own."""

    rows: QuerySet[Any]
    key: "ForeignObject[Any, Any]"
    attribute: str
    paths: list[str]
    readers: list[Reader]
    maker: Maker

    @classmethod
    def of(cls, model: type[Model], lookup: Any) -> "Hanging":
        """What a `Prefetch` with a queryset and `to_attr` would fetch by a further query."""
        rows = lookup.queryset
        compiler = rows.query.get_compiler(connection=connection)
        compiler.pre_sql_setup()
        columns = dict(_columns(compiler.klass_info, compiler.select))
        paths, fields = zip(*(columns[place] for place in sorted(columns)), strict=True)
        maker = Maker.of(compiler.klass_info, compiler.select)
        key = model._meta.get_field(lookup.prefetch_through).field  # type: ignore[union-attr]
        return cls(rows, key, lookup.to_attr, paths, [_reader(field) for field in fields], maker)

    def column(self) -> ArraySubquery:
        """The rows of one that they hang on, as an array of what JSON makes of their columns."""
        # Whatever the ORM takes such an array for, the driver has parsed it.
        row = Func(*map(F, self.paths), function="json_build_array", output_field=TextField())
        own = self.rows.filter(**{self.key.name: OuterRef("pk")})
        return ArraySubquery(own.values_list(row))

    def put_on(self, instance: Model) -> None:
        """Makes instances, which know the one that they hang on, of what the column has."""
        found = [self._made(row) for row in getattr(instance, self.attribute)]
        for hanging in found:
            self.key.set_cached_value(hanging, instance)
        setattr(instance, self.attribute, found)

    def _made(self, row: list[Any]) -> Any:
        return self.maker.make(tuple(read(value) for read, value in zip(self.readers, row, strict=True)))


def _columns(
    compiled: dict[str, Any], select: list[Any], prefix: str = ""
) -> "Iterator[tuple[int, tuple[str, Field[Any, Any]]]]":
    """Each column's place, and the path from the row to it: of what the ORM's compiler tells."""
    for place in compiled["select_fields"]:
        column = select[place][0].target
        yield place, (prefix + column.attname, column)
    for inner in compiled.get("related_klass_infos", []):
        field = inner["field"]
        name = field.related_query_name() if inner["reverse"] else field.name
        yield from _columns(inner, select, f"{prefix}{name}__")


def _reader(field: "Field[Any, Any]") -> Reader:
    """How a column's value is read of JSON."""
    return _bytes if isinstance(field, BinaryField) else field.to_python


def _bytes(text: str | None) -> bytes | None:
    """PostgreSQL's text of bytes: hexadecimal after `\\x`."""
    return None if text is None else bytes.fromhex(text[2:])
