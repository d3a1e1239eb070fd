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
        ({"description": ".".join(NUMBER)}, "description"),
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


@pytest.mark.parametrize("key", [NUMBER, f"order{NUMBER}", "4242.4242.4242.4242", "４２４２４２４２４２４２４２４２"])
def test_an_idempotency_key_that_holds_one_is_refused_by_its_header(api: Api, key: str) -> None:
    error = error_of(api.post("/sources/", {"type": "gcash"}, key=key))
    assert (error["code"], error["param"]) == ("card_data", "Idempotency-Key")
    assert not IdempotencyRecord.objects.exists()
    assert not Source.objects.exists()


@pytest.mark.parametrize(
    ("path", "name"), [(f"/charges/{NUMBER}", "id"), (f"/customers/by_email/x{NUMBER}@shop.example", "email")]
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


@pytest.mark.parametrize("order", ["576461413038785008", "5764614130387858"])
def test_a_marketplaces_number_that_has_a_check_digit_passes_in_every_text(api: Api, order: str) -> None:
    url = f"https://shop.example/orders/{order}"
    source = api.source(redirect={"success": url, "fail": url}, metadata={order: order})
    members = {"amount": 25_000, "source": source, "description": f"Order {order}", "metadata": {"order": [order]}}
    charge = made(api.post("/charges/", members | {"redirect_url": url}, key=f"order-{order}"))
    assert charge["description"] == f"Order {order}"
    refund = made(api.post(f"/charges/{charge['id']}/refund", {"reason": f"Order {order}"}))
    assert refund["refunds"][0]["reason"] == f"Order {order}"
    item = {"name": f"Order {order}", "amount": 5_000, "quantity": 1}
    session = {"currency": "PHP", "payment_method_types": ["card"], "line_items": [item], "client_reference_id": order}
    made(api.post("/checkout_sessions/", session | {"success_url": url, "cancel_url": url}))
    endpoint = {"url": f"{url}/hook", "enabled_events": ["*"], "description": order}
    made(api.post("/webhook_endpoints/", endpoint))
    customer = made(api.post("/customers/", CUSTOMER | {"description": order}))
    assert api.get(f"/customers/by_email/{customer['email']}").status_code == 200
