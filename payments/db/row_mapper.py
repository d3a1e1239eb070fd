"""Maps rows of the database to instances of models."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model
from django.db.models.base import ModelState

Row = tuple[Any, ...]


class ShownRow(tuple[Any, ...]):
    """A row that is only rendered: it has the attributes and properties of an instance, and reads each at its place.

    To fill a charge, its source and its card as instances takes longer than to render them.
    """

    __slots__ = ()


@dataclass(frozen=True)
class RowMapper:
    """The columns of a row that belong to one model, and the mappers of the models that are joined.

    It does not call the model's `__init__`, which takes ten times as long (`timeit`: a charge, its source and its card
    36 µs by `from_db`, 3 µs by this; a page has twenty).
    """

    model: type[Model]
    columns: slice
    names: list[str]
    key: int
    # Each with its name in our instances' cache of related ones, and with ours in its own, if it has one.
    joined: list[tuple["RowMapper", str, str | None]]
    # An instance's attributes: a copy that is filled takes half the time of a dictionary that grows.
    blank: dict[str, Any]

    @classmethod
    def of(cls, compiled: dict[str, Any], select: list[Any]) -> "RowMapper":
        """Return the mapper for the ORM compiler's `klass_info` and `select`."""
        model, (first, *_, last) = compiled["model"], compiled["select_fields"]
        columns = slice(first, last + 1)
        names = [column.target.attname for column, _, _ in select[columns]]
        joined = []
        for inner in compiled.get("related_klass_infos", []):
            field, remote = inner["field"], inner["field"].remote_field
            here, there = (remote, field) if inner["reverse"] else (field, remote)
            joined.append((cls.of(inner, select), here.cache_name, there.cache_name if field.unique else None))
        key = first + names.index(model._meta.pk.attname)
        return cls(model, columns, names, key, joined, dict.fromkeys([*names, "_state"]))

    def instance(self, row: Row) -> Any:
        """Return the instance in `row` with its joined ones; None if an outer join found no row."""
        if row[self.key] is None:
            return None
        instance, state, attributes = self.model.__new__(self.model), _stored(), self.blank.copy()
        attributes.update(zip(self.names, row[self.columns], strict=True), _state=state)
        instance.__dict__ = attributes
        for mapper, here, there in self.joined:
            other = state.fields_cache[here] = mapper.instance(row)
            if other is not None and there:
                other._state.fields_cache[there] = instance
        return instance

    def shown_rows(self) -> type[ShownRow]:
        """Return the class that a row is passed to in place of `instance`."""
        places = enumerate(self.names, self.columns.start)
        attributes: dict[str, Any] = {name: property(itemgetter(place)) for place, name in places}
        attributes |= {here: property(mapper._shown) for mapper, here, _ in self.joined}
        attributes |= {name: own for name, own in vars(self.model).items() if isinstance(own, property)}
        return type(
            f"Shown{self.model.__name__}", (ShownRow,), {"__slots__": (), "__str__": self.model.__str__, **attributes}
        )

    @property
    def _shown(self) -> Callable[[Row], ShownRow | None]:
        rows, key = self.shown_rows(), self.key
        return lambda row: None if row[key] is None else rows(row)


def instances(model: type[Model], names: Sequence[str], rows: Iterable[Row]) -> list[Any]:
    """Return the instances in rows that have the columns `names`, each named as its attribute."""
    found = []
    for row in rows:
        instance = model.__new__(model)
        instance.__dict__ = dict(zip(names, row, strict=True), _state=_stored())
        found.append(instance)
    return found


def _stored() -> ModelState:
    state = ModelState()
    state.adding = False
    state.db = DEFAULT_DB_ALIAS
    # Django's descriptor would make it at the first use.
    state.fields_cache = {}
    return state
