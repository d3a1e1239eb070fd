"""Fast construction of model instances: one charge constructs ten."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

from django.db import models
from django.db.models.base import ModelState
from django.db.models.fields.related_descriptors import ForwardManyToOneDescriptor
from django.db.models.signals import class_prepared
from django.dispatch import receiver


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
            attributes, state = vars(self), ModelState()
            attributes.update(defaults.values, _state=state)
            for attribute, make in defaults.factories.items():
                if attribute not in given:
                    attributes[attribute] = make()
            for name in defaults.one_to_one.intersection(given):
                # Django's descriptor also sets the attribute of the other row.
                setattr(self, name, given.pop(name))
            for name in defaults.foreign.keys() & given.keys():
                field, other = defaults.foreign[name], given.pop(name)
                if other is not None and not isinstance(other, field.related_model):
                    raise ValueError(f"{name} must be a {field.related_model.__name__}.")
                state.fields_cache[name] = other
                attributes[field.attname] = None if other is None else getattr(other, field.target_field.attname)
            attributes.update(given)
        else:
            super().__init__(*stored, **given)


class HandedOver(ForwardManyToOneDescriptor):
    """Returns a related row that was handed over at once; any other as Django does, after two calls for each."""

    def __get__(self, row: Any, kind: Any = None) -> Any:
        found = row._state.fields_cache.get(self.field.name) if row is not None else None
        return super().__get__(row, kind) if found is None else found


@receiver(class_prepared)
def _hand_over(sender: type[models.Model], **_: Any) -> None:
    for name, descriptor in list(vars(sender).items()) if issubclass(sender, FastModel) else ():
        if type(descriptor) is ForwardManyToOneDescriptor:
            setattr(sender, name, HandedOver(descriptor.field))


Kind = TypeVar("Kind", bound=models.Model)


def copy_with(row: Kind, values: Mapping[str, Any], **related: models.Model) -> Kind:
    """Return a copy of `row` with other `values` and `related` rows, to be rendered and never saved.

    `row` is not changed. (`timeit`: 1.6 µs for a charge, where `copy.copy` takes 8.7.)
    """
    copied, state = row.__class__.__new__(row.__class__), ModelState()
    # Django has no public copy of a row with other related rows, and its cache of them is shared by `copy.copy`.
    vars(state).update(vars(row._state), fields_cache={**row._state.fields_cache, **related})
    vars(copied).update(vars(row))
    vars(copied).update(values, _state=state)
    return copied


class Defaults(NamedTuple):
    """The defaults of a model: constant `values` and `factories`, by attribute.

    `names` are the arguments that its `__init__` takes. Of those that take instances, `foreign` maps the name of each
    foreign key to its field, and `one_to_one` has the others.
    """

    values: dict[str, Any]
    factories: dict[str, Callable[[], Any]]
    names: frozenset[str]
    foreign: dict[str, "models.ForeignKey[Any, Any]"]
    one_to_one: frozenset[str]


@cache
def _defaults_of(model: type[models.Model]) -> Defaults:
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    factories = {field.attname: field.default for field in fields if field.has_default() and callable(field.default)}
    values = {field.attname: None if field.attname in factories else field.get_default() for field in fields}
    related = {field.name: field for field in fields if isinstance(field, models.ForeignKey)}
    one_to_one = frozenset(name for name, field in related.items() if isinstance(field, models.OneToOneField))
    foreign = {name: field for name, field in related.items() if name not in one_to_one}
    return Defaults(values, factories, frozenset(related).union(values), foreign, one_to_one)
