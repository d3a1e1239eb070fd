"""A merchant who reads its events after every step and finds a gap at once."""

from collections.abc import Iterator
from typing import Any

from tests.client import Api, made
from tests.machine.comparison import OWN

# A step causes few events; when there are more, the next page is read.
PAGE = 5


class Events:
    """All events so far: the last of each object, by its ID."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._newest = ""
        self.last: dict[str, dict[str, Any]] = {}

    def read_on(self) -> None:
        """Read the events since the last time. Fail unless the sequence of each object has no gap."""
        for event in reversed(list(self._new())):
            shown = event["data"]["object"]
            before = self.last.get(shown["id"], {"sequence": 0})
            assert event["sequence"] == before["sequence"] + 1, event
            self.last[shown["id"]] = event
            self._newest = event["id"]

    def check_last(self, charge: dict[str, Any]) -> None:
        """Fails unless the newest events of a charge and its refunds show them as they are now."""
        shown = self.last[charge["id"]]["data"]["object"]
        assert {name: shown[name] for name in OWN} == {name: charge[name] for name in OWN}
        for refund in charge["refunds"]:
            assert self.last[refund["id"]]["data"]["object"]["status"] == refund["status"]

    def _new(self) -> Iterator[dict[str, Any]]:
        path, query = "/events/", {"limit": PAGE}
        while path:
            page = made(self._api.get(path, **query))
            for event in page["data"]:
                if event["id"] == self._newest:
                    return
                yield event
            path, query = page.get("next", "").removeprefix("/v2"), {}
