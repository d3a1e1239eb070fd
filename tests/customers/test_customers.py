"""Customers made, read, found by address and deleted, as a merchant's program does it, and their field rules."""

from typing import Any
from urllib.parse import quote

import pytest
from django.db import IntegrityError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from customers.models import Customer, CustomerSource
from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import parse_id
from tests.client import Api, error_of, made
from tests.customers.factories import MARIA, attach, new_customer, read

EVERYTHING = MARIA | {"mobile_number": "+63 917 000 0000", "metadata": {"z": [1, {"a": "ñ"}], "b": None}}


def test_a_customer_is_created_with_what_was_sent(api: Api) -> None:
    response = api.post("/customers/", EVERYTHING)

    customer = response.json()
    assert response.status_code == 201
    assert parse_id("cus", customer.pop("id"))
    assert customer.pop("created_at") == customer.pop("updated_at")
    assert customer == EVERYTHING | {"object": "customer", "sources": [], "livemode": False}


def test_members_that_were_not_given_are_null_or_empty(maria: dict[str, Any]) -> None:
    assert (maria["mobile_number"], maria["metadata"]) == (None, {})


def test_metadata_keeps_the_order_of_its_members(api: Api) -> None:
    customer = new_customer(api, metadata={"z": 1, "a": 2})

    assert list(read(api, customer)["metadata"]) == ["z", "a"]


def test_a_live_key_makes_live_customers(shop: NewMerchant) -> None:
    assert new_customer(Api(shop.keys["sk_live"]))["livemode"] is True


def test_a_customer_is_read_as_it_was_created(api: Api, maria: dict[str, Any]) -> None:
    assert read(api, maria) == maria


@pytest.mark.parametrize("slash", ["", "/"])
def test_every_path_answers_with_and_without_its_slash(api: Api, slash: str) -> None:
    customer = made(api.post(f"/customers{slash}", MARIA))
    path = f"/customers/{customer['id']}"

    source = api.source()
    statuses = [
        api.get(f"/customers{slash}").status_code,
        api.get(f"{path}{slash}").status_code,
        api.put(f"{path}{slash}", {}).status_code,
        api.get(f"/customers/by_email/{MARIA['email']}{slash}").status_code,
        api.post(f"{path}/sources{slash}", {"source": source}).status_code,
        api.delete(f"{path}/sources/{source}{slash}").status_code,
        api.delete(f"{path}{slash}").status_code,
    ]
    assert statuses == [200] * 7


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/customers/", "GET, POST"),
        ("POST", "/customers/{id}", "GET, PUT, DELETE"),
        ("PUT", "/customers/{id}/sources", "POST"),
        ("GET", "/customers/{id}/sources/{id}", "DELETE"),
        ("POST", "/customers/by_email/maria@example.ph", "GET"),
    ],
)
def test_another_method_is_refused(api: Api, maria: dict[str, Any], method: str, path: str, allowed: str) -> None:
    response = api.send(method, path.format(**maria), None, {})

    assert response.status_code == 405
    assert set(allowed.split(", ")) <= set(response["Allow"].split(", "))


# --- PUT


def test_put_replaces_the_members_given_and_leaves_the_others(api: Api) -> None:
    before = new_customer(api, **EVERYTHING)

    after = made(api.put(f"/customers/{before['id']}", {"email": "clara@example.ph", "mobile_number": "12345"}))

    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"email", "mobile_number", "updated_at"}
    assert after["updated_at"] > before["updated_at"]
    assert read(api, before) == after


def test_put_replaces_metadata_as_a_whole(api: Api) -> None:
    customer = new_customer(api, metadata={"kept": 1, "gone": 2})

    after = made(api.put(f"/customers/{customer['id']}", {"metadata": {"kept": 1}}))

    assert after["metadata"] == {"kept": 1}


@pytest.mark.parametrize("body", [None, {}, {"email": None, "metadata": None}])
def test_put_of_nothing_changes_nothing(api: Api, maria: dict[str, Any], body: Any) -> None:
    response = api.put(f"/customers/{maria['id']}", body)

    assert response.status_code == 200
    assert response.json() == maria == read(api, maria)


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "email": st.sampled_from(["a@example.ph", "b@example.ph"]),
        "description": st.sampled_from(["One", "Two"]),
        "mobile_number": st.sampled_from(["12345", "67890"]),
        "metadata": st.dictionaries(st.sampled_from("xyz"), st.booleans() | st.integers(0, 1), max_size=3),
    },
)


@pytest.mark.long
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(puts=st.lists(CHANGES, max_size=5))
def test_after_any_puts_each_member_is_what_was_last_given(api: Api, puts: list[dict[str, Any]]) -> None:
    customer = new_customer(api)
    expected = dict(customer)

    for changes in puts:
        made(api.put(f"/customers/{customer['id']}", changes))
        expected |= changes

    now = read(api, customer)
    del now["updated_at"], expected["updated_at"]
    assert repr(sorted(now.items())) == repr(sorted(expected.items()))


# --- by_email


@pytest.mark.parametrize("email", ["maria+shop@example.ph", "a/b@example.ph", "o'hara@example.ph", "100%@example.ph"])
@pytest.mark.parametrize("plain", ["", "@/", "@/+'%"])
def test_a_customer_is_found_by_its_address_percent_encoded_or_not(api: Api, email: str, plain: str) -> None:
    customer = new_customer(api, email=email)

    assert made(api.get(f"/customers/by_email/{quote(email, safe=plain)}")) == customer


@pytest.mark.parametrize("asked", ["Maria@example.com", "Maria@Example.COM", "Maria@EXAMPLE.com"])
def test_names_of_hosts_know_no_case_and_what_stands_before_does(api: Api, asked: str) -> None:
    made_before = made(api.post("/customers/", MARIA | {"email": "Maria@Example.COM"}))
    changed = made(api.post("/customers/", MARIA))
    made(api.put(f"/customers/{changed['id']}", {"email": "Maria@example.Com"}))
    assert made(api.get(f"/customers/by_email/{asked}"))["id"] == changed["id"]
    listed = made(api.get("/customers/", email=asked))["data"]
    assert [each["id"] for each in listed] == [changed["id"], made_before["id"]]
    assert api.get(f"/customers/by_email/{asked.lower()}").status_code == 404


def test_a_plus_that_is_not_encoded_is_explained(api: Api) -> None:
    made(api.post("/customers/", MARIA | {"email": "maria+shop@example.com"}))
    answer = api.client.get("/v2/customers/?email=maria+shop@example.com", headers=api.headers())
    error = error_of(answer)
    assert (answer.status_code, error["code"], error["param"]) == (422, "unencoded_plus", "email")
    assert "%2B" in error["message"]
    assert len(made(api.get("/customers/", email="maria+shop@example.com"))["data"]) == 1


def test_the_newest_of_several_customers_with_one_address_is_found(api: Api) -> None:
    new_customer(api)
    newest = new_customer(api)
    new_customer(api, email="somebody.else@example.ph")

    assert made(api.get(f"/customers/by_email/{MARIA['email']}")) == newest


@pytest.mark.parametrize("email", ["nobody@example.ph", "MARIA@example.ph", "maria@example.p_", "x" * 300])
def test_another_address_finds_nobody(api: Api, maria: dict[str, Any], email: str) -> None:
    response = api.get(f"/customers/by_email/{email}")

    assert response.status_code == 404
    assert error_of(response)["code"] == "resource_missing"


def test_the_customer_found_by_address_has_its_sources(api: Api, maria: dict[str, Any]) -> None:
    source = attach(api, maria)

    found = made(api.get(f"/customers/by_email/{MARIA['email']}"))

    assert [kept["id"] for kept in found["sources"]] == [source]


# --- DELETE


def test_a_deleted_customer_is_answered_for_once(api: Api, maria: dict[str, Any]) -> None:
    response = api.delete(f"/customers/{maria['id']}")

    assert response.status_code == 200
    assert response.json() == {"id": maria["id"], "object": "customer", "deleted": True}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/customers/{id}", None),
        ("PUT", "/customers/{id}", {"description": "Back"}),
        ("DELETE", "/customers/{id}", None),
        ("GET", "/customers/by_email/{email}", None),
        ("POST", "/customers/{id}/sources", {"source": "src_0"}),
        ("DELETE", "/customers/{id}/sources/src_0", None),
    ],
)
def test_a_deleted_customer_does_not_exist(api: Api, maria: dict[str, Any], method: str, path: str, body: Any) -> None:
    api.delete(f"/customers/{maria['id']}")

    response = api.send(method, path.format(**maria), body, {})

    assert response.status_code == 404
    assert error_of(response)["message"] == "No such customer."


def test_nothing_personal_stays_of_a_deleted_customer(api: Api) -> None:
    customer = new_customer(api, **EVERYTHING)

    api.delete(f"/customers/{customer['id']}")

    row = Customer.objects.get(id=parse_id("cus", customer["id"]))
    assert (row.email, row.mobile_number, row.description, row.metadata) == ("", "", "", None)


def test_a_body_with_members_does_not_delete(api: Api, maria: dict[str, Any]) -> None:
    response = api.send("DELETE", f"/customers/{maria['id']}", {"really": True}, {})

    assert response.status_code == 422
    assert read(api, maria) == maria


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


@pytest.mark.parametrize("changes", [{"deleted_at": clock.now()}, {"email": ""}, {"description": ""}])
def test_a_customer_is_either_whole_or_erased(maria: dict[str, Any], changes: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="customer_nothing_personal_once_deleted"):
        Customer.objects.update(**changes)


def test_a_source_is_tied_to_one_customer_ever(api: Api, maria: dict[str, Any]) -> None:
    source = parse_id("src", attach(api, maria))
    attach(api, new_customer(api))

    with pytest.raises(IntegrityError, match="source_id"):
        CustomerSource.objects.update(source=source)
