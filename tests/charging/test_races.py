"""Races with real threads on real connections: exactly one wins, and nothing is ever over."""

import json
from typing import Any

import pytest

from payments.models import Attempt, Charge, Event, Source
from payments.providers.simulator.models import SimulatedPayment
from tests.client import Api, error_of, made
from tests.concurrency import at_once, statuses
from tests.contract.calls import vaulted

pytestmark = pytest.mark.django_db(transaction=True)


def order(source: str, **members: Any) -> dict[str, Any]:
    return {"amount": 100, "currency": "PHP", "source": source, "description": "One of many", **members}


def test_one_source_charged_fifty_times_at_once_has_one_winner(api: Api) -> None:
    source = api.source()

    responses = at_once(50, lambda _: Api(api.key).post("/charges/", order(source)))

    assert statuses(responses) == {201: 1, 409: 49}
    losers = [error_of(response) for response in responses if response.status_code == 409]
    assert {loser["code"] for loser in losers} == {"source_already_used"}
    assert Charge.objects.count() == 1
    assert SimulatedPayment.objects.count() == 1


def test_the_same_key_fifty_times_at_once_asks_the_provider_once_and_gives_the_same_bytes(api: Api) -> None:
    body = order(api.source())

    responses = at_once(50, lambda _: Api(api.key).post("/charges/", body, key="once"))

    assert set(statuses(responses)) <= {201, 409}
    refusals = [error_of(response)["code"] for response in responses if response.status_code == 409]
    assert set(refusals) <= {"idempotency_key_in_use"}
    again = [Api(api.key).post("/charges/", body, key="once") for _ in range(3)]
    answers = {response.content for response in [*responses, *again] if response.status_code == 201}
    assert len(answers) == 1
    assert SimulatedPayment.objects.count() == 1


def test_a_vaulted_card_charged_under_one_key_at_once_is_charged_once(api: Api) -> None:
    body = order(vaulted(api))

    responses = at_once(20, lambda _: Api(api.key).post("/charges/", body, key="once"))

    refusals = [error_of(response)["code"] for response in responses if response.status_code == 409]
    assert set(refusals) <= {"idempotency_key_in_use"}
    assert len({response.content for response in responses if response.status_code == 201}) == 1
    assert SimulatedPayment.objects.count() == 1


def test_one_key_for_other_requests_at_once_is_taken_by_one_and_the_others_use_nothing_up(api: Api) -> None:
    sources = [api.source() for _ in range(8)]

    responses = at_once(8, lambda number: Api(api.key).post("/charges/", order(sources[number]), key="once"))

    assert statuses(responses) == {201: 1, 409: 7}
    refusals = {error_of(response)["code"] for response in responses if response.status_code == 409}
    assert refusals == {"idempotency_key_reused"}
    assert Source.objects.filter(used=True).count() == SimulatedPayment.objects.count() == 1


def test_refunds_at_once_never_give_back_more_than_was_captured(api: Api) -> None:
    charge = api.charge(amount=1000)
    path = f"/charges/{charge['id']}/refund"

    responses = at_once(20, lambda _: Api(api.key).post(path, {"amount": 100}))

    succeeded = [response for response in responses if response.status_code == 200]
    after = api.read(charge)
    assert after["amount_refunded"] == 100 * len(succeeded) <= 1000
    assert sum(refund["amount"] for refund in after["refunds"]) == after["amount_refunded"]
    assert SimulatedPayment.objects.get().amount_refunded == after["amount_refunded"]
    refused = {error_of(response)["code"] for response in responses if response.status_code == 409}
    assert refused <= {"amount_too_large", "charge_not_refundable", "resource_busy"}


@pytest.mark.parametrize("turn", range(5))
def test_of_capture_and_void_at_once_one_wins(api: Api, turn: int) -> None:
    charge = api.held()
    verbs = ["capture", "void"]

    responses = at_once(2, lambda number: Api(api.key).post(f"/charges/{charge['id']}/{verbs[number]}"))

    after = api.read(charge)
    # A void may follow a capture that won, but nothing may follow a void.
    if after["status"] == "voided" and after["captured"]:
        assert statuses(responses) == {200: 2}
    else:
        assert statuses(responses) == {200: 1, 409: 1}
    assert not Attempt.objects.exclude(state="done").exists()


def test_the_events_of_a_charge_are_numbered_without_gaps_whatever_raced(api: Api) -> None:
    charge = api.charge(amount=1000)
    at_once(10, lambda _: Api(api.key).post(f"/charges/{charge['id']}/refund", {"amount": 50}))

    payloads = [json.loads(bytes(event.payload)) for event in Event.objects.order_by("sequence")]
    of_charge = [event for event in payloads if event["data"]["object"]["id"] == charge["id"]]

    assert [event["sequence"] for event in of_charge] == list(range(1, len(of_charge) + 1))
    assert of_charge[-1]["data"]["object"]["amount_refunded"] == api.read(charge)["amount_refunded"]


def test_ten_sources_under_one_key_at_once_are_one_source(api: Api) -> None:
    responses = at_once(10, lambda _: Api(api.key).post("/sources/", {"type": "gcash"}, key="one-source"))

    assert statuses(responses) == {200: 10}
    assert len({made(response)["id"] for response in responses}) == 1
