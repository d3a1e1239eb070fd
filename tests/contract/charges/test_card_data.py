"""A card number where none belongs is refused, and the refusal says where it stands."""

import json
from typing import Any

import pytest

from payments.models import Charge, IdempotencyRecord, Source
from tests.client import Api, error_of, made

NUMBER = "4242424242424242"
CUSTOMER = {"email": "juan@shop.example", "description": "Juan"}

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({"description": f"x{NUMBER}y"}, "description"),
        ({"metadata": {"note": "4242.4242.4242.4242"}}, "metadata.note"),
        ({"metadata": {"cards": [{"number": int(NUMBER)}]}}, "metadata.cards.0.number"),
        ({"metadata": {"total": float(NUMBER)}}, "metadata.total"),
        ({"metadata": {"order": {"cvc": "123"}}}, "metadata.order.cvc"),
        ({"metadata": {f"card {NUMBER}": True}}, "metadata.card [redacted]"),
    ],
)
def test_the_member_at_fault_is_named(api: Api, members: dict[str, Any], name: str) -> None:
    error = error_of(api.post("/customers/", CUSTOMER | members))
    assert (error["type"], error["code"], error["param"]) == ("validation_error", "card_data", name)
    assert list(error["errors"]) == [name]


def test_all_members_at_fault_are_named_at_once(api: Api) -> None:
    metadata = {"a": NUMBER, "b": "fine", "c": ["fine", NUMBER]}
    answer = api.post("/customers/", CUSTOMER | {"description": NUMBER, "metadata": metadata})
    places = [fault["loc"] for fault in json.loads(answer.content)["detail"]]
    assert places == [["body", "description"], ["body", "metadata", "a"], ["body", "metadata", "c", "1"]]


@pytest.mark.parametrize("key", [NUMBER, f"order{NUMBER}", "4242.4242.4242.4242", "３７８２８２２４６３１０００５"])
def test_an_idempotency_key_that_holds_one_is_refused_by_its_header(api: Api, key: str) -> None:
    error = error_of(api.post("/sources/", {"type": "gcash"}, key=key))
    assert (error["code"], error["param"]) == ("card_data", "Idempotency-Key")
    assert not IdempotencyRecord.objects.exists()
    assert not Source.objects.exists()


@pytest.mark.parametrize(
    ("path", "name"),
    [(f"/charges/{NUMBER}", "id"), (f"/customers/by_email/x{NUMBER}@shop.example", "email")],
)
def test_a_path_that_holds_one_is_refused_by_its_part(api: Api, path: str, name: str) -> None:
    answer = api.get(path)
    assert (answer.status_code, error_of(answer)["code"], error_of(answer)["param"]) == (422, "card_data", name)
    assert json.loads(answer.content)["detail"][0]["loc"] == ["path", name]


def test_a_query_that_holds_one_is_refused_by_its_parameter(api: Api) -> None:
    error = error_of(api.get("/charges/", start_after=f"ch_{NUMBER}"))
    assert (error["code"], error["param"]) == ("card_data", "start_after")


@pytest.mark.long
@pytest.mark.parametrize("counter", range(20))
def test_order_numbers_of_a_date_and_a_counter_are_accepted(api: Api, counter: int) -> None:
    order = f"Order 20261122{counter:08}"
    charge = made(api.post("/charges/", {"amount": 100, "source": api.source(), "description": order}, key=order))
    assert charge["description"] == Charge.objects.get().description == order
