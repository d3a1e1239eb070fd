"""New rows, of which a charge alone makes ten."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

from django.db import models
from django.db.models.base import ModelState


class Row(models.Model):
    """A model whose new rows begin with defaults that are looked up once, not at each field and each call.

    Nobody listens to the signals that Django's own `__init__` sends. (`timeit`: a charge takes 14 µs instead of 39, an
    event 17 instead of 28.)
    """

    class Meta:
        abstract = True

    def __init__(self, *stored: Any, **given: Any) -> None:
        """Takes and raises what Django's own does, which is asked wherever not all is given by the names of fields."""
        blank = _blank_of(type(self))
        if not stored and blank.names.issuperset(given):
            _fill(self, blank, given)
        else:
            super().__init__(*stored, **given)


Kind = TypeVar("Kind", bound=models.Model)


def replaced(row: Kind, values: Mapping[str, Any], **related: models.Model) -> Kind:
    """Return a copy of `row` with other values and other `related` rows, which may be rendered and is never saved.

    `row` stays as it is. (`timeit`: 1.6 µs for a charge, where `copy.copy` takes 8.7.)
    """
    copied, state = row.__class__.__new__(row.__class__), ModelState()
    vars(state).update(vars(row._state), fields_cache={**row._state.fields_cache, **related})
    vars(copied).update(vars(row))
    vars(copied).update(values, _state=state)
    return copied


class Blank(NamedTuple):
    """A new row that is given nothing: its `values` by attribute, and who makes those that each row has of its own.

    It may be given some by `names`, of which the `related` are those of other rows.
    """

    values: dict[str, Any]
    makers: dict[str, Callable[[], Any]]
    names: frozenset[str]
    related: frozenset[str]


def _fill(row: models.Model, blank: Blank, given: dict[str, Any]) -> None:
    attributes = vars(row)
    attributes.update(blank.values, _state=ModelState())
    for attribute, make in blank.makers.items():
        if attribute not in given:
            attributes[attribute] = make()
    for name, value in given.items():
        if name in blank.related:
            # By Django's own, which looks at its type and keeps it at hand.
            setattr(row, name, value)
        else:
            attributes[name] = value


@cache
def _blank_of(model: type[models.Model]) -> Blank:
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    makers = {field.attname: field.default for field in fields if field.has_default() and callable(field.default)}
    values = {field.attname: None if field.attname in makers else field.get_default() for field in fields}
    related = frozenset(field.name for field in fields if field.is_relation)
    return Blank(values, makers, related.union(values), related)
