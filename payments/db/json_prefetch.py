"""Related rows, read as JSON in the statement that reads the rows they refer to.

A second query would see what was committed in between, such as a refund that its charge does not count yet.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import BinaryField, F, Field, ForeignObject, Func, Model, OuterRef, QuerySet, TextField

from payments.db.fields import OwnForeignKey
from payments.db.row_mapper import RowMapper

Reader = Callable[[Any], Any]


@dataclass(frozen=True)
class JsonPrefetch:
    """A `Prefetch` with a queryset and `to_attr`: the related rows, their foreign key and the attribute for them.

    `inner` are the prefetches of the related rows themselves.
    """

    rows: QuerySet[Any]
    key: "ForeignObject[Any, Any]"
    attribute: str
    paths: list[str]
    readers: list[Reader]
    mapper: RowMapper
    inner: "list[JsonPrefetch]"

    @classmethod
    def of(cls, model: type[Model], lookup: Any) -> "JsonPrefetch":
        """Return the prefetch that reads what `lookup` would read by a query of its own."""
        rows = lookup.queryset
        compiler = rows.query.get_compiler(connection=connection)
        compiler.pre_sql_setup()
        columns = dict(_columns(compiler.klass_info, compiler.select))
        paths, fields = zip(*(columns[place] for place in sorted(columns)), strict=True)
        readers = [_bytes if isinstance(field, BinaryField) else field.to_python for field in fields]
        mapper = RowMapper.of(compiler.klass_info, compiler.select)
        key = model._meta.get_field(lookup.prefetch_through).field  # type: ignore[union-attr]
        inner = [cls.of(rows.model, each) for each in lookups_of(rows)]
        return cls(rows.prefetch_related(None), key, lookup.to_attr, paths, readers, mapper, inner)

    def column(self) -> ArraySubquery:
        """Return the related rows of one row as an array of JSON arrays, one per row."""
        # The driver parses JSON itself, so the declared type does not matter.
        inner = [each.column() for each in self.inner]
        row = Func(*map(F, self.paths), *inner, function="json_build_array", output_field=TextField())
        own = self.rows.filter(**{self.key.name: OuterRef("pk")})
        if isinstance(self.key, OwnForeignKey):
            own = own.filter(merchant_id=OuterRef("merchant_id"))
        return ArraySubquery(own.values_list(row))

    def attach(self, instance: Model, rows: list[list[Any]]) -> None:
        """Set the attribute of `instance` to instances of the related rows, which the column has as JSON."""
        found = self.read(rows)
        for related in found:
            self.key.set_cached_value(related, instance)
        setattr(instance, self.attribute, found)

    def read(self, rows: list[list[Any]]) -> list[Any]:
        """Return instances of the related rows."""
        return list(map(self._instance, rows))

    def shown(self, at: int) -> property:
        """Return what reads the related rows, at a place of a row for rendering, as rows for rendering."""
        rows = self.mapper.shown_rows()
        for place, each in enumerate(self.inner, len(self.readers)):
            setattr(rows, each.attribute, each.shown(place))
        return property(lambda row: list(map(rows, row[at])))

    def _instance(self, row: list[Any]) -> Any:
        instance = self.mapper.instance(tuple(read(value) for read, value in zip(self.readers, row, strict=False)))
        for each, found in zip(self.inner, row[len(self.readers) :], strict=True):
            each.attach(instance, found)
        return instance


def lookups_of(rows: QuerySet[Any]) -> tuple[Any, ...]:
    """Return what a query prefetches, which no public call says."""
    found: tuple[Any, ...] = rows._prefetch_related_lookups  # type: ignore[attr-defined]
    return found


def _columns(
    compiled: dict[str, Any], select: list[Any], prefix: str = ""
) -> "Iterator[tuple[int, tuple[str, Field[Any, Any]]]]":
    """Yield each column's position, lookup path and field, from the ORM compiler's `klass_info` and `select`."""
    for place in compiled["select_fields"]:
        column = select[place][0].target
        yield place, (prefix + column.attname, column)
    for inner in compiled.get("related_klass_infos", []):
        field = inner["field"]
        name = field.related_query_name() if inner["reverse"] else field.name
        yield from _columns(inner, select, f"{prefix}{name}__")


def _bytes(text: str | None) -> bytes | None:
    """Return the bytes in PostgreSQL's text form: hexadecimal after `\\x`."""
    return None if text is None else bytes.fromhex(text[2:])
