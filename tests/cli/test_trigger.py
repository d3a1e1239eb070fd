import json

import pytest

from payments.domain.catalogue.event_types import EVENT_TYPES
from tests.cli.conftest import Service
from tests.cli.terminal import Terminal

pytestmark = pytest.mark.long


@pytest.mark.parametrize("event_type", EVENT_TYPES)
def test_each_event_type_happens_its_id_is_printed_and_a_list_of_it_has_no_other(
    event_type: str, terminal: Terminal, service: Service
) -> None:
    before = service.event_ids(limit=1, type=event_type)
    event_id, shown_type, object_id = terminal.run("trigger", event_type).succeeded().split()
    event = service.get(f"/events/{event_id}").json()
    assert (event["type"], event["data"]["object"]["id"]) == (event_type, object_id)
    assert shown_type == event_type
    assert event_id not in before
    listed = service.get("/events/", type=event_type, limit=100).json()["data"]
    assert {event["type"] for event in listed} == {event_type}


def test_an_event_is_shown_as_the_service_has_it(terminal: Terminal, service: Service) -> None:
    shown = terminal.run("trigger", "source.created", "--json").succeeded()
    assert shown == service.get(f"/events/{json.loads(shown)['id']}").text + "\n"
