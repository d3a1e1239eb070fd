"""What the document says of callbacks, beside what is really sent."""

import pytest

from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.domain.charging.state_machine import TRANSITIONS
from payments.webhooks.worker import DeliveryLoop
from tests.client import Api
from tests.openapi.conftest import Document, escaped
from tests.support.receiver import Call, Receiver


def body_of(name: str) -> str:
    """Where the schema of a callback's body is."""
    return f"/webhooks/{name}/post/requestBody/content/{escaped('application/json')}/schema"


def headers_of(described: Document, name: str) -> dict[str, str]:
    """Where the schemas of a callback's headers are, by their names in lower case."""
    headers = described.content["webhooks"][name]["post"]["parameters"]
    return {
        header["name"].lower(): f"/webhooks/{name}/post/parameters/{number}/schema"
        for number, header in enumerate(headers)
    }


def test_it_describes_every_type_that_a_charges_change_can_have(described: Document) -> None:
    events = {transition.event for transition in TRANSITIONS}
    assert events <= set(described.content["webhooks"])


@pytest.mark.long
@pytest.mark.parametrize("name", EVENT_TYPES)
def test_its_example_is_such_an_event_and_another_events_object_is_not(name: str, described: Document) -> None:
    [media_type] = described.content["webhooks"][name]["post"]["requestBody"]["content"].values()
    [example] = (example["value"] for example in media_type["examples"].values())
    assert described.faults(body_of(name), example) == []
    other = "refund.created" if name.startswith("charge") else "charge.created"
    assert described.faults(body_of(other), example | {"type": other}) != []


@pytest.mark.django_db(transaction=True)
def test_what_is_sent_is_what_is_described(described: Document, api: Api, settings) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
    with Receiver() as receiver:
        redirect = {"success": "https://a.example/", "fail": "https://a.example/", "notify": receiver.url}
        charge = api.charge_source(api.source(redirect=redirect))
        api.post(f"/charges/{charge['id']}/refund", {"amount": 100})
        DeliveryLoop().run()
    assert {call.event["type"] for call in receiver.calls} > {"charge.created", "charge.succeeded", "refund.created"}
    for call in receiver.calls:
        assert _faults(described, call) == []


def _faults(described: Document, call: Call) -> list[str]:
    name = call.event["type"]
    headers = headers_of(described, name)
    assert headers.keys() <= call.headers.keys()
    found = [described.faults(pointer, call.headers[header]) for header, pointer in headers.items()]
    return sum(found, described.faults(body_of(name), call.event))


def test_it_says_which_answers_end_it_and_which_put_it_off(described: Document) -> None:
    for webhook in described.content["webhooks"].values():
        responses = webhook["post"]["responses"]
        assert responses.keys() == {"2XX", "410", "default"}
        assert "Retry-After" in responses["default"]["headers"]
