"""Instances of models made of rows as they come from the database."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model
from django.db.models.base import ModelState

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Maker:
    """Which columns of a row make an instance of which model, and who makes what it is joined with.

    It is made without the model's `__init__`, which takes ten times as long, and which no model of ours has its own of
    (`timeit`: a charge, its source and its card 36 µs by `from_db`, 3 µs so; a page has twenty).
    """

    model: type[Model]
    columns: slice
    names: list[str]
    key: int
    joined: list[tuple["Maker", Callable[..., None], Callable[..., None]]]

    @classmethod
    def of(cls, compiled: dict[str, Any], select: list[Any]) -> "Maker":
        """The maker for what the ORM's compiler tells: its `klass_info` and `select`."""
        model, (first, *_, last) = compiled["model"], compiled["select_fields"]
        columns = slice(first, last + 1)
        names = [column.target.attname for column, _, _ in select[columns]]
        joined = [
            (cls.of(inner, select), inner["local_setter"], inner["remote_setter"])
            for inner in compiled.get("related_klass_infos", [])
        ]
        return cls(model, columns, names, first + names.index(model._meta.pk.attname), joined)

    def make(self, row: Row) -> Any:
        """The instance in `row`, joined ones at hand; None where an outer join found none."""
        if row[self.key] is None:
            return None
        instance = self.model.__new__(self.model)
        instance.__dict__.update(zip(self.names, row[self.columns], strict=True), _state=_stored())
        for maker, set_here, set_there in self.joined:
            other = maker.make(row)
            set_here(instance, other)
            if other is not None:
                set_there(other, instance)
        return instance


def _stored() -> ModelState:
    state = ModelState()
    state.adding = False
    state.db = DEFAULT_DB_ALIAS
    return state
