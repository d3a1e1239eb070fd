"""Fast construction of model instances: one charge constructs ten."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

from django.db import models
from django.db.models.base import ModelState


class FastModel(models.Model):
    """A model whose `__init__` looks its fields' defaults up once, and not for each instance.

    It skips Django's `pre_init` and `post_init`, which nothing here receives. (`timeit`: a charge takes 14 µs instead
    of 39, an event 17 instead of 28.)
    """

    class Meta:
        abstract = True

    def __init__(self, *stored: Any, **given: Any) -> None:
        """Set the fields; take and raise what Django's `__init__` does, which is called for any other argument."""
        defaults = _defaults_of(type(self))
        if not stored and defaults.names.issuperset(given):
            _fill(self, defaults, given)
        else:
            super().__init__(*stored, **given)


Kind = TypeVar("Kind", bound=models.Model)


def copy_with(row: Kind, values: Mapping[str, Any], **related: models.Model) -> Kind:
    """Return a copy of `row` with other `values` and `related` rows, to be rendered and never saved.

    `row` is not changed. (`timeit`: 1.6 µs for a charge, where `copy.copy` takes 8.7.)
    """
    copied, state = row.__class__.__new__(row.__class__), ModelState()
    vars(state).update(vars(row._state), fields_cache={**row._state.fields_cache, **related})
    vars(copied).update(vars(row))
    vars(copied).update(values, _state=state)
    return copied


class Defaults(NamedTuple):
    """The defaults of a model: constant `values` and `factories`, by attribute.

    `names` are the arguments that its `__init__` takes; of them `related` are those that take instances.
    """

    values: dict[str, Any]
    factories: dict[str, Callable[[], Any]]
    names: frozenset[str]
    related: frozenset[str]


def _fill(row: models.Model, defaults: Defaults, given: dict[str, Any]) -> None:
    attributes = vars(row)
    attributes.update(defaults.values, _state=ModelState())
    for attribute, make in defaults.factories.items():
        if attribute not in given:
            attributes[attribute] = make()
    for name, value in given.items():
        if name in defaults.related:
            # Django's descriptor checks the type and caches the instance.
            setattr(row, name, value)
        else:
            attributes[name] = value


@cache
def _defaults_of(model: type[models.Model]) -> Defaults:
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    factories = {field.attname: field.default for field in fields if field.has_default() and callable(field.default)}
    values = {field.attname: None if field.attname in factories else field.get_default() for field in fields}
    related = frozenset(field.name for field in fields if field.is_relation)
    return Defaults(values, factories, related.union(values), related)
