"""Maps rows of the database to instances of models."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model
from django.db.models.base import ModelState

Row = tuple[Any, ...]


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
    joined: list[tuple["RowMapper", Callable[..., None], Callable[..., None]]]

    @classmethod
    def of(cls, compiled: dict[str, Any], select: list[Any]) -> "RowMapper":
        """Return the mapper for the ORM compiler's `klass_info` and `select`."""
        model, (first, *_, last) = compiled["model"], compiled["select_fields"]
        columns = slice(first, last + 1)
        names = [column.target.attname for column, _, _ in select[columns]]
        joined = [
            (cls.of(inner, select), inner["local_setter"], inner["remote_setter"])
            for inner in compiled.get("related_klass_infos", [])
        ]
        return cls(model, columns, names, first + names.index(model._meta.pk.attname), joined)

    def instance(self, row: Row) -> Any:
        """Return the instance in `row` with its joined ones; None if an outer join found no row."""
        if row[self.key] is None:
            return None
        instance = self.model.__new__(self.model)
        instance.__dict__.update(zip(self.names, row[self.columns], strict=True), _state=_stored())
        for mapper, set_here, set_there in self.joined:
            other = mapper.instance(row)
            set_here(instance, other)
            if other is not None:
                set_there(other, instance)
        return instance


def _stored() -> ModelState:
    state = ModelState()
    state.adding = False
    state.db = DEFAULT_DB_ALIAS
    # Django's descriptor would make it at the first use.
    state.fields_cache = {}
    return state
