"""What no page shows is not found out by narrowing a list by it either."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client

from payments.models import Card
from tests.admin.conftest import House
from tests.admin.test_pages import SHOWN, list_of

pytestmark = pytest.mark.long


def filters_of(model: type[Model]) -> list[str]:
    return [str(getattr(one, "parameter_name", one)) for one in admin.site._registry[model].list_filter]


def columns_kept_back() -> Iterator[tuple[type[Model], str]]:
    for model in SHOWN:
        columns = {field.name for field in model._meta.concrete_fields}
        yield from ((model, name) for name in sorted(columns - {*filters_of(model)}))


@pytest.mark.parametrize("lookup", ["", "__contains", "__startswith", "__gte", "__regex"])
def test_a_sealed_number_is_not_found_out_letter_by_letter(lookup: str, house: House, operator: Client) -> None:
    begins_with = "\\x" + bytes(Card.objects.latest("pk").sealed_number or b"").hex()[:2]
    response = operator.get(list_of(Card), {f"sealed_number{lookup}": begins_with})
    assert response.status_code == 400


def test_a_list_is_narrowed_by_nothing_but_its_filters(house: House, operator: Client) -> None:
    for model, name in columns_kept_back():
        assert operator.get(list_of(model), {f"{name}__isnull": "False"}).status_code == 400, (model, name)


def test_a_list_is_not_narrowed_by_the_columns_of_another_table(house: House, operator: Client) -> None:
    query, browser = {"source__merchant__keys__digest__startswith": "a"}, {"Accept": "text/html"}
    response = operator.get(list_of(Card), query, headers=browser)
    assert response.status_code == 400
    assert "This list has no such filter." in response.content.decode()


def test_every_filter_of_a_list_narrows_it(house: House, operator: Client) -> None:
    for model in SHOWN:
        for name in filters_of(model):
            assert operator.get(list_of(model), {name: "x"}).status_code in (200, 302), (model, name)
