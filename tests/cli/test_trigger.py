import json

import pytest
from kaha_cli.commands.trigger import FLOWS

from tests.cli.conftest import Service
from tests.cli.terminal import Terminal

pytestmark = pytest.mark.long


@pytest.mark.parametrize("event_type", FLOWS)
def test_each_event_type_happens_and_its_id_is_printed(event_type: str, terminal: Terminal, service: Service) -> None:
    before = service.event_ids(limit=1, type=event_type)
    event_id, shown_type, object_id = terminal.run("trigger", event_type).succeeded().split()
    event = service.get(f"/events/{event_id}").json()
    assert (event["type"], event["data"]["object"]["id"]) == (event_type, object_id)
    assert shown_type == event_type
    assert event_id not in before


def test_an_event_is_shown_as_the_service_has_it(terminal: Terminal, service: Service) -> None:
    shown = terminal.run("trigger", "source.created", "--json").succeeded()
    assert shown == service.get(f"/events/{json.loads(shown)['id']}").text + "\n"
