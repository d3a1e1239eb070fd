"""Verbs on one customer or one source at once, with real threads on real connections."""

from typing import Any

import pytest

from customers.models import CustomerSource
from payments.models import Card, Charge
from payments.providers.simulator.models import SimulatedPayment
from tests.client import Api, error_of, made
from tests.concurrency import at_once, statuses
from tests.customers.factories import MARIA, attach, events_of, new_customer, read

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_source_attached_many_times_at_once_is_kept_for_one_customer(api: Api) -> None:
    customers, source = [new_customer(api) for _ in range(8)], api.source()

    responses = at_once(
        8, lambda number: Api(api.key).post(f"/customers/{customers[number]['id']}/sources", {"source": source})
    )

    assert statuses(responses) == {200: 1, 409: 7}
    assert {error_of(loser)["code"] for loser in responses if loser.status_code == 409} == {"source_already_used"}
    assert sum(len(read(api, customer)["sources"]) for customer in customers) == 1


def test_a_source_charged_and_attached_at_once_has_one_owner(api: Api, maria: dict[str, Any]) -> None:
    source = api.source()
    calls = [
        (f"/customers/{maria['id']}/sources", {"source": source}),
        ("/charges/", {"amount": 100, "source": source, "description": "One of two"}),
    ]

    responses = at_once(2, lambda number: Api(api.key).post(*calls[number]))

    # A charge that comes second finds a vaulted source, which it may take.
    attached, charged = (response.status_code for response in responses)
    assert (attached, charged) in {(200, 409), (200, 201), (409, 201)}
    assert CustomerSource.objects.count() == (attached == 200)


@pytest.mark.long
@pytest.mark.parametrize("turn", range(3))
def test_a_source_that_is_charged_while_it_is_detached_is_charged_before_or_not_at_all(
    api: Api, maria: dict[str, Any], turn: int
) -> None:
    source = attach(api, maria)
    body = {"amount": 100, "source": source, "description": "One of many"}

    detached, *charged = at_once(
        6,
        lambda number: (
            Api(api.key).post("/charges/", body)
            if number
            else Api(api.key).delete(f"/customers/{maria['id']}/sources/{source}")
        ),
    )

    assert detached.status_code == 200
    charged.append(api.post("/charges/", body))
    assert charged[-1].status_code == 409
    assert {error_of(late)["code"] for late in charged if late.status_code != 201} == {"source_already_used"}
    assert statuses(charged)[201] == Charge.objects.count() == SimulatedPayment.objects.count()


def test_many_sources_attached_to_one_customer_at_once_are_all_kept(api: Api, maria: dict[str, Any]) -> None:
    sources = [api.wallet() for _ in range(10)]
    path = f"/customers/{maria['id']}/sources"

    responses = at_once(10, lambda number: Api(api.key).post(path, {"source": sources[number]}))

    assert statuses(responses) == {200: 10}
    assert {source["id"] for source in read(api, maria)["sources"]} == set(sources)
    assert [event["sequence"] for event in events_of(maria["id"])] == list(range(1, 12))


def test_puts_at_once_lose_no_member(api: Api, maria: dict[str, Any]) -> None:
    bodies = [{"description": "New"}, {"mobile_number": "12345"}, {"metadata": {"new": True}}]

    at_once(3, lambda number: Api(api.key).put(f"/customers/{maria['id']}", bodies[number]))

    after = read(api, maria)
    assert (after["description"], after["mobile_number"], after["metadata"]) == ("New", "12345", {"new": True})


@pytest.mark.parametrize("turn", range(4))
def test_a_source_attached_while_the_customer_is_deleted_is_never_left_behind(api: Api, turn: int) -> None:
    customer, source = new_customer(api), api.source()
    path = f"/customers/{customer['id']}"
    calls = [lambda: Api(api.key).delete(path), lambda: Api(api.key).post(f"{path}/sources", {"source": source})]

    deleted, attached = at_once(2, lambda number: calls[number]())

    shown = made(api.get(f"/sources/{source}"))
    assert deleted.status_code == 200
    assert (attached.status_code, shown["used"], shown["vaulted"]) in {(200, True, False), (404, False, False)}
    assert (Card.objects.get().sealed_number is None) == (attached.status_code == 200)


def test_of_two_deletions_at_once_one_finds_the_customer(api: Api, maria: dict[str, Any]) -> None:
    attach(api, maria)

    responses = at_once(4, lambda _: Api(api.key).delete(f"/customers/{maria['id']}"))

    assert statuses(responses) == {200: 1, 404: 3}
    assert [event["type"] for event in events_of(maria["id"])][-1] == "customer.deleted"


@pytest.mark.parametrize("what", ["create", "attach"])
def test_one_key_at_once_is_done_once(api: Api, maria: dict[str, Any], what: str) -> None:
    path, body = {
        "create": ("/customers/", MARIA),
        "attach": (f"/customers/{maria['id']}/sources", {"source": api.source()}),
    }[what]

    responses = at_once(8, lambda _: Api(api.key).post(path, body, key="once"))

    assert set(statuses(responses)) <= {200, 201}
    assert len({response.content for response in responses}) == 1
