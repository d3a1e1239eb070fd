"""A new row is what Django's own `__init__` makes of the same arguments."""

from typing import Any

import pytest
from django.db import models

from payments.db.fast_model import FastModel
from payments.ids import new_id
from payments.models import Charge, Event, Merchant

ROWS = [model for model in FastModel.__subclasses__() if not model._meta.abstract]


def made_by_django(model: type[FastModel], *stored: Any, **given: Any) -> models.Model:
    row = model.__new__(model)
    models.Model.__init__(row, *stored, **given)
    return row


def values_of(row: models.Model) -> dict[str, Any]:
    """Return its values; for generated ones, such as its ID, whether they are set."""
    own = {field.attname for field in row._meta.concrete_fields if field.has_default() and callable(field.default)}
    values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return {name: type(value) if name in own else value for name, value in values.items()}


@pytest.mark.parametrize("model", ROWS)
def test_a_row_that_is_given_nothing_has_the_same_defaults(model: type[FastModel]) -> None:
    assert values_of(model()) == values_of(made_by_django(model))


@pytest.mark.parametrize("model", ROWS)
def test_a_row_that_is_given_all_has_it(model: type[FastModel]) -> None:
    given = {field.attname: object() for field in model._meta.concrete_fields}
    assert vars(model(**given)).items() >= given.items()


@pytest.mark.parametrize("model", ROWS)
def test_values_by_their_places_are_taken_as_from_the_database(model: type[FastModel]) -> None:
    stored = [object() for _ in model._meta.concrete_fields]
    row = model(*stored)
    assert [getattr(row, field.attname) for field in model._meta.concrete_fields] == stored


def test_a_row_is_new_until_it_is_saved() -> None:
    assert vars(Charge()._state) == vars(made_by_django(Charge)._state)


def test_each_row_makes_an_id_of_its_own() -> None:
    assert len({Charge().id for _ in range(10)}) == 10


def test_a_row_caches_a_related_row() -> None:
    merchant = Merchant()
    event = Event(merchant=merchant)
    assert event.merchant is merchant
    assert event.merchant_id == merchant.id


def test_a_row_that_is_given_another_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="must be a"):
        Event(merchant=Charge())


def test_a_row_takes_its_key_under_the_name_that_django_has_for_every_key() -> None:
    assert Event(pk=(key := new_id())).id == key


def test_a_name_that_no_field_has_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        Event(colour="blue")
