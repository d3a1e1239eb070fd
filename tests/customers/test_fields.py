"""The field rules of customers: what is refused, by which name and code."""

from typing import Any

import pytest

from customers.models import Customer
from tests.client import Api, error_of, made
from tests.customers.factories import MARIA, new_customer, read

BAD = [
    ("email", "", "too_short"),
    ("email", "nobody", "invalid_email"),
    ("email", "maria@example.ph\n", "invalid_email"),
    ("email", "m" * 245 + "@example.ph", "too_long"),
    ("email", 5, "invalid_type"),
    ("description", "", "too_short"),
    ("description", "d" * 256, "too_long"),
    ("description", ["d"], "invalid_type"),
    ("mobile_number", "1234", "too_short"),
    ("mobile_number", "1" * 26, "too_long"),
    ("mobile_number", 9170000000, "invalid_type"),
    ("metadata", "text", "invalid_type"),
    ("metadata", {str(number): 1 for number in range(51)}, "too_many"),
    ("metadata", {"a": [[[[[]]]]]}, "too_deep"),
    ("name", "Maria", "unknown_parameter"),
    ("sources", [], "unknown_parameter"),
]
GOOD = [
    ("description", "d"),
    ("description", "Ñandú 😀"),
    ("description", "d" * 255),
    ("mobile_number", "12345"),
    ("mobile_number", "1" * 25),
    ("metadata", {}),
    ("metadata", {"k" * 40: {"deep": [[[1.5, None, True]]]}}),
]


@pytest.mark.parametrize(("name", "value", "code"), BAD)
def test_a_new_customer_with_a_bad_member_is_refused(api: Api, name: str, value: Any, code: str) -> None:
    response = api.post("/customers/", MARIA | {name: value})

    error = error_of(response)
    assert (response.status_code, error["code"], error["param"]) == (422, code, name)
    assert not Customer.objects.exists()


# An empty address is none, and changes nothing.
@pytest.mark.parametrize(("name", "value", "code"), [each for each in BAD if each[:2] != ("email", "")])
def test_a_change_with_a_bad_member_is_refused(
    api: Api, maria: dict[str, Any], name: str, value: Any, code: str
) -> None:
    response = api.put(f"/customers/{maria['id']}", {"description": "Changed", name: value})

    error = error_of(response)
    assert (response.status_code, error["code"], error["param"]) == (422, code, name)
    assert read(api, maria) == maria


@pytest.mark.parametrize(("name", "value"), GOOD)
def test_values_at_the_bounds_are_taken(api: Api, name: str, value: Any) -> None:
    customer = new_customer(api, **{name: value})

    assert read(api, customer)[name] == value


def test_an_empty_mobile_number_is_none(api: Api, maria: dict[str, Any]) -> None:
    assert new_customer(api, mobile_number="")["mobile_number"] is None
    assert made(api.put(f"/customers/{maria['id']}", {"mobile_number": ""})) == maria


@pytest.mark.parametrize("value", [None, "absent"])
def test_address_and_description_are_required(api: Api, value: Any) -> None:
    response = api.post("/customers/", {} if value else {"email": None, "description": None})

    assert response.status_code == 422
    assert [(fault["loc"], fault["type"]) for fault in response.json()["detail"]] == [
        (["body", "email"], "missing"),
        (["body", "description"], "missing"),
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [({}, "missing"), ({"source": 5}, "invalid_type"), ({"source": ""}, "too_short"), ({"source": "src_é"}, "pattern")],
)
def test_a_bad_source_to_attach_is_refused(api: Api, maria: dict[str, Any], body: Any, code: str) -> None:
    response = api.post(f"/customers/{maria['id']}/sources", body)

    error = error_of(response)
    assert (response.status_code, error["code"], error["param"]) == (422, code, "source")


@pytest.mark.parametrize(
    ("query", "param"),
    [({"mobile_number": "12345"}, "mobile_number"), ({"email": ""}, "email"), ({"limit": 0}, "limit")],
)
def test_a_bad_query_is_refused(api: Api, query: dict[str, Any], param: str) -> None:
    response = api.get("/customers/", **query)

    assert response.status_code == 422
    assert error_of(response)["param"] == param


def test_a_query_on_a_single_customer_is_refused_but_expand_is_not(api: Api, maria: dict[str, Any]) -> None:
    path = f"/customers/{maria['id']}"

    assert api.get(path, email=maria["email"]).status_code == 422
    assert made(api.get(path, expand="sources")) == maria
