"""Events: what each change writes, in which order, and what stands in them."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from pytest_django import Settings

from payments.tasks import run_sweep
from tests.client import CHALLENGED, DECLINED, REFUNDS_FAIL, REFUNDS_WAIT, Api, made
from tests.contract.calls import CARD_SOURCE, customer, debit, faults_of, nobodys, order, vaulted
from tests.contract.shapes import CHARGE, CUSTOMER, DISPUTE, EVENT, REFUND, SOURCE, faults_in
from tests.disputes.stories import WON, disputed

SHAPES = {"charge": CHARGE, "refund": REFUND, "dispute": DISPUTE, "source": SOURCE, "customer": CUSTOMER}


def events_of(api: Api, identity: str) -> list[dict[str, Any]]:
    """Return the events of one object, oldest first."""
    return made(api.get("/events/", object=identity, limit=100))["data"][::-1]


def types_of(api: Api, identity: str) -> list[str]:
    return [event["type"] for event in events_of(api, identity)]


def do(verb: str, make: Callable[[Api], dict[str, Any]], **body: Any) -> Callable[[Api], dict[str, Any]]:
    """Make a charge and does this to it."""
    return lambda api: made(api.post(f"/charges/{make(api)['id']}/{verb}", body or None))


def verified(otp: str) -> Callable[[Api], dict[str, Any]]:
    def make(api: Api) -> dict[str, Any]:
        charge = debit(api)
        body = {"confirmation_id": charge["action"]["confirmation_id"], "otp": otp}
        return made(api.post(f"/charges/{charge['id']}/verify", body))

    return make


CREATED, UPDATED = "charge.created", "charge.updated"
SUCCEEDED, FAILED, CAPTURED = "charge.succeeded", "charge.failed", "charge.captured"
WAYS: dict[str, tuple[Callable[[Api], dict[str, Any]], list[str]]] = {
    "approved": (lambda api: api.charge(), [CREATED, SUCCEEDED]),
    "held": (lambda api: api.held(), [CREATED, SUCCEEDED]),
    "declined": (lambda api: api.charge(DECLINED), [CREATED, FAILED]),
    "challenged": (lambda api: api.charge(CHALLENGED), [CREATED, UPDATED]),
    "unknown": (lambda api: api.charge("4000000000005100"), [CREATED]),
    "right pin": (verified("123456"), [CREATED, UPDATED, SUCCEEDED]),
    "wrong pin": (verified("000000"), [CREATED, UPDATED]),
    "captured": (do("capture", lambda api: api.held()), [CREATED, SUCCEEDED, CAPTURED]),
    "part captured": (do("capture", lambda api: api.held(), amount=1), [CREATED, SUCCEEDED, CAPTURED]),
    "voided": (do("void", lambda api: api.held()), [CREATED, SUCCEEDED, UPDATED]),
    "refunded": (do("refund", lambda api: api.charge()), [CREATED, SUCCEEDED, UPDATED]),
    "refunded twice": (
        do("refund", do("refund", lambda api: api.charge(), amount=1)),
        [CREATED, SUCCEEDED, UPDATED, UPDATED],
    ),
    "captured and refunded": (
        do("refund", do("capture", lambda api: api.held())),
        [CREATED, SUCCEEDED, CAPTURED, UPDATED],
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_every_change_of_a_charge_has_an_event_in_order(api: Api, way: str) -> None:
    make, expected = WAYS[way]
    assert types_of(api, make(api)["id"]) == expected


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_the_events_of_a_charge_are_numbered_from_one_without_gaps(api: Api, way: str) -> None:
    events = events_of(api, WAYS[way][0](api)["id"])
    assert [event["sequence"] for event in events] == [*range(1, len(events) + 1)]


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_the_last_event_shows_the_charge_as_it_is_now(api: Api, way: str) -> None:
    charge = WAYS[way][0](api)
    refunds = {refund["id"]: "any" for refund in charge["refunds"]}
    shown = events_of(api, charge["id"])[-1]["data"]["object"]
    # Its refunds have events of their own.
    now = api.read(charge)
    assert {refund["id"] for refund in shown.pop("refunds")} == refunds.keys()
    assert shown == {name: value for name, value in now.items() if name != "refunds"}


def test_an_earlier_event_shows_the_charge_as_it_was(api: Api) -> None:
    charge = do("capture", lambda api: api.held())(api)
    shown = [event["data"]["object"] for event in events_of(api, charge["id"])]
    assert [(one["status"], one["authorized"], one["captured"]) for one in shown] == [
        ("pending", False, False),
        ("succeeded", True, False),
        ("succeeded", False, True),
    ]


@pytest.mark.parametrize("number", ["4000000000003055", REFUNDS_WAIT, REFUNDS_FAIL])
def test_every_change_of_a_refund_has_an_event_in_order(api: Api, settings: Settings, number: str) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
    charge = api.charge(number)
    made(api.post(f"/charges/{charge['id']}/refund"))
    run_sweep("apply_simulator_messages")
    events = events_of(api, api.read(charge)["refunds"][0]["id"])
    assert events[0]["type"] == "refund.created"
    assert {event["type"] for event in events[1:]} == {"refund.updated"}
    assert [event["sequence"] for event in events] == [*range(1, len(events) + 1)]
    assert events[-1]["data"]["object"] == api.read(charge)["refunds"][0]


def test_a_refund_that_fails_afterwards_updates_its_charge(api: Api, settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
    charge = do("refund", lambda api: api.charge(REFUNDS_FAIL))(api)
    run_sweep("apply_simulator_messages")
    events = events_of(api, charge["id"])
    assert [event["type"] for event in events] == [CREATED, SUCCEEDED, UPDATED, UPDATED]
    assert [event["data"]["object"]["amount_refunded"] for event in events[-2:]] == [charge["amount"], 0]


def test_a_source_has_events_when_created_used_and_detached(api: Api) -> None:
    charged, kept = api.source(), vaulted(api)
    api.charge_source(charged)
    owner = made(api.get("/customers/"))["data"][0]["id"]
    made(api.delete(f"/customers/{owner}/sources/{kept}"))
    assert types_of(api, charged) == ["source.created", "source.updated"]
    assert types_of(api, kept) == ["source.created", "source.updated", "source.deleted"]


def test_a_customer_has_events_when_created_updated_and_deleted(api: Api) -> None:
    identity = customer(api)["id"]
    made(api.put(f"/customers/{identity}", {"description": "Now on Fridays"}))
    made(api.delete(f"/customers/{identity}"))
    assert types_of(api, identity) == ["customer.created", "customer.updated", "customer.deleted"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/sources/", {"type": "nonsense"}),
        ("POST", "/charges/", order("src_1")),
        ("POST", "/charges/ch_1/refund", None),
        ("GET", "/charges/", None),
    ],
)
def test_a_request_that_changes_nothing_writes_no_event(api: Api, method: str, path: str, body: Any) -> None:
    api.send(method, path, body, {})
    assert made(api.get("/events/"))["data"] == []


@pytest.mark.parametrize("verb", ["void", "refund", "verify"])
def test_a_refused_operation_writes_no_event(api: Api, verb: str) -> None:
    charge = api.charge(DECLINED)
    api.post(f"/charges/{charge['id']}/{verb}", {} if verb != "verify" else {"confirmation_id": "12345", "otp": "1"})
    assert len(events_of(api, charge["id"])) == 2


def test_an_event_has_the_documented_shape(api: Api) -> None:
    api.charge_source(vaulted(api))
    do("refund", lambda api: api.charge())(api)
    disputed(api, WON)
    for event in made(api.get("/events/", limit=100))["data"]:
        assert faults_in(event, EVENT) == []
        assert faults_in(event["data"]["object"], SHAPES[event["type"].partition(".")[0]]) == []
        assert event["livemode"] is False


def test_an_event_has_its_time(api: Api) -> None:
    event = events_of(api, api.charge()["id"])[-1]
    assert event["created"] == int(datetime.fromisoformat(event["created_at"]).timestamp())


def test_an_event_names_the_request_that_caused_it(api: Api) -> None:
    response = api.post("/charges/", order(api.source()), key="order 5")
    expected = {"id": response["Request-Id"], "idempotency_key": "order 5"}
    assert [event["request"] for event in events_of(api, response.json()["id"])] == [expected, expected]


def test_without_an_idempotency_key_an_event_has_none(api: Api) -> None:
    response = api.post("/sources/", CARD_SOURCE)
    assert [event["request"] for event in events_of(api, response.json()["id"])] == [
        {"id": response["Request-Id"], "idempotency_key": None}
    ]


def test_what_happens_by_itself_names_no_request(api: Api, settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
    charge = do("refund", lambda api: api.charge(REFUNDS_FAIL))(api)
    run_sweep("apply_simulator_messages")
    assert events_of(api, charge["id"])[-1]["request"] == {"idempotency_key": None}


def test_events_never_show_a_number_or_cvc(api: Api) -> None:
    api.charge(CHALLENGED, cvc="9876")
    body = api.get("/events/", limit=100).content.decode()
    assert CHALLENGED not in body
    # IDs and times may hold these digits among others by chance.
    assert not re.search("(?<![0-9a-f])9876(?![0-9a-f])", body)


def test_events_of_an_object_that_is_not_there_are_refused(api: Api) -> None:
    assert faults_of(api.get("/events/", object=nobodys("ch"))) == {"object": "invalid_choice"}


def test_filters_of_events_work_together(api: Api) -> None:
    charge = api.charge()
    found = made(api.get("/events/", object=charge["id"], type="charge.succeeded"))["data"]
    assert [event["type"] for event in found] == ["charge.succeeded"]


def test_an_unknown_filter_of_events_is_refused(api: Api) -> None:
    assert faults_of(api.get("/events/", types="charge.created")) == {"types": "unknown_parameter"}


def test_an_event_is_read_as_it_is_listed(api: Api) -> None:
    api.charge()
    for event in made(api.get("/events/"))["data"]:
        assert made(api.get(f"/events/{event['id']}")) == event


@pytest.mark.parametrize(
    "identity",
    [nobodys("evt"), "evt_1", "charge.created", nobodys("ch")],
    ids=["unknown", "malformed", "a type", "another kind"],
)
def test_an_event_that_is_not_there_is_missing(api: Api, identity: str) -> None:
    assert api.get(f"/events/{identity}").status_code == 404


def test_the_event_that_made_an_object_is_no_longer_the_last_one_after_a_change(api: Api) -> None:
    charge = api.held()
    before = events_of(api, charge["id"])
    made(api.post(f"/charges/{charge['id']}/void"))
    assert events_of(api, charge["id"])[: len(before)] == before
