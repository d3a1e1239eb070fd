"""A web server whose every thread a test can occupy for as long as it wants."""

from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from payments.embedded.processes import wait_until
from tests.support.web import web_process
from tests.web.clients import PATIENCE_SECONDS, ask, head, open_sockets

TARGET = "tests.web.waiting_app:application"
THREADS = 10
HELD = "held"


class Busy:
    """A server at `port` that logs to a file; its threads wait for a lock on the file `held`."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port, self.log, self._held = port, folder / "web.log", folder / HELD

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have the requests wait until the block ends."""
        with self._held.open("w") as file:
            flock(file, LOCK_EX)
            yield

    def wait_until_idle(self) -> None:
        """Wait until nothing is left of the requests of a test before."""
        assert wait_until(lambda: ask(self.port, head("GET /taken"))[1] == b"1", PATIENCE_SECONDS)

    @contextmanager
    def threads(self) -> Iterator[None]:
        """Occupy every thread with a request that waits, until the block ends."""
        self.wait_until_idle()
        with self.held(), open_sockets(self.port, THREADS, head("GET /waiting")):
            taken = (503, "every thread is taken")
            assert wait_until(lambda: watched(self.port, "ready") == taken, PATIENCE_SECONDS)
            yield


@contextmanager
def busy_server(folder: Path, **settings: Any) -> Iterator[Busy]:
    """Serve with one process of few threads until the block ends."""
    own: dict[str, Any] = {"target": TARGET, "WEB_THREADS": str(THREADS), "HELD_FILE": str(folder / HELD)}
    with web_process(folder, workers=1, **own | settings) as (url, _):
        yield Busy(int(url.rpartition(":")[2]), folder)


def watched(port: int, name: str) -> tuple[int, str]:
    """Return the answer to a health check."""
    response, text = ask(port, head(f"GET /{name}"))
    return response.status, text.decode()
