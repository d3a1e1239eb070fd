"""A receiver that was away reads at `GET /v2/events/` what it would have been sent."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from payments.webhooks.worker import DeliveryLoop
from tests.client import Api, made
from tests.commands.receivers import receiving

# The worker has a connection of its own.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def delivered(api: Api) -> list[bytes]:
    """Return the bodies sent about a charge with a refund, and about another charge, oldest first."""
    bodies: list[bytes] = []

    def keep(headers: Mapping[str, str], body: bytes) -> int:
        bodies.append(body)
        return 200

    with receiving(keep) as receiver:
        redirect = {"success": receiver.url, "fail": receiver.url, "notify": receiver.url}
        charge = api.charge_source(api.source(redirect=redirect), metadata={"order": "Piña colada ☕", "total": 1.50})
        made(api.post(f"/charges/{charge['id']}/refund", {"amount": 100}))
        api.charge_source(api.source(redirect=redirect))
        DeliveryLoop().run()
    assert len(bodies) >= 6
    return sorted(bodies, key=lambda body: json.loads(body)["id"])


def walk(api: Api, **query: Any) -> list[str]:
    """Return the IDs on all pages, newest first."""
    ids: list[str] = []
    while True:
        page = made(api.get("/events/", **query, **({"start_after": ids[-1]} if ids else {})))
        ids += [event["id"] for event in page["data"]]
        if "next" not in page:
            return ids


def test_an_event_read_later_is_byte_for_byte_what_was_delivered(api: Api, delivered: list[bytes]) -> None:
    for body in delivered:
        assert api.get(f"/events/{json.loads(body)['id']}").content == body


def test_a_list_holds_the_same_bytes(api: Api, delivered: list[bytes]) -> None:
    content = api.get("/events/", limit=100).content
    for body in delivered:
        assert body in content


def test_walking_back_from_the_newest_finds_all_that_was_missed(api: Api, delivered: list[bytes]) -> None:
    ids = walk(api, limit=2)
    assert ids == sorted(set(ids), reverse=True)
    assert {json.loads(body)["id"] for body in delivered} <= set(ids)


def test_one_type_can_be_caught_up_alone(api: Api, delivered: list[bytes]) -> None:
    wanted = [event["id"] for event in map(json.loads, delivered) if event["type"] == "charge.succeeded"]
    assert walk(api, type="charge.succeeded", limit=1) == wanted[::-1]


def test_one_object_can_be_caught_up_alone_without_a_gap(api: Api, delivered: list[bytes]) -> None:
    events = [json.loads(body) for body in delivered]
    charge = events[0]["data"]["object"]["id"]
    missed = [event["sequence"] for event in events if event["data"]["object"]["id"] == charge]
    found = made(api.get("/events/", object=charge))["data"]
    assert [event["sequence"] for event in found] == missed[::-1] == list(range(len(missed), 0, -1))
