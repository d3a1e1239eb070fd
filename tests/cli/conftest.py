"""A kaha with web server and worker, and a developer of its demo merchant at a terminal."""

import re
import shutil
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.terminal import Terminal
from tests.quickstart.quickstart_process import Quickstart, manage
from tests.support.postgres import remove_linked_folders


class Service:
    """A running kaha; `keys` are those of a merchant."""

    def __init__(self, data: Path, ready: dict[str, Any]) -> None:
        self.data, self.url, self.keys = data, str(ready["api"]), ready

    def get(self, path: str, **query: Any) -> httpx2.Response:
        """Return what the API answers the merchant's own program."""
        return httpx2.get(f"{self.url}/v2{path}", params=query, auth=(self.keys["sk_test"], ""))

    def event_ids(self, limit: int = 100, **query: Any) -> list[str]:
        return [event["id"] for event in self.get("/events/", limit=limit, **query).json()["data"]]

    def new_merchant_key(self) -> str:
        """Return the secret test key of a merchant who has done nothing yet."""
        found = re.search(r"sk_test_[A-Za-z0-9_-]+", manage(self.data, "merchant", "create", "New Store"))
        assert found
        return found[0]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[Service]:
    data = tmp_path_factory.mktemp("cli") / "data"
    quickstart = Quickstart(data, "--json")
    yield Service(data, quickstart.ready())
    quickstart.program.send(signal.SIGTERM)
    quickstart.ended()
    remove_linked_folders(data)
    shutil.rmtree(data, ignore_errors=True)


@pytest.fixture
def terminal(service: Service, tmp_path: Path) -> Generator[Terminal]:
    """Return a terminal with address and test key in its environment."""
    terminal = Terminal(tmp_path, KAHA_URL=service.url, KAHA_KEY=service.keys["sk_test"])
    yield terminal
    terminal.close()


@pytest.fixture
def bare_terminal(tmp_path: Path) -> Terminal:
    """Return a terminal that no kaha and no key is known to."""
    return Terminal(tmp_path)
