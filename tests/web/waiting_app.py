"""A WSGI application behind our front: one path waits for as long as a test takes, others count what runs and is left.

Payers' pages are ours.
"""

import threading
import time
from collections.abc import Iterable
from typing import Any
from weakref import WeakSet
from wsgiref.types import StartResponse

from config.wsgi import application as wsgi_application  # Django is set up by it

# isort: split
from payments import context
from payments.web.front import Front

WAITING, RUNNING, MOST, LEFT = "/waiting", "/running", "/most", "/left"
PAGES, CHECKOUT = ("/admin/running", "/links/running"), "/checkout/"
WAIT_SECONDS = 120
RUN_SECONDS = 0.02


class Running:
    """Counts the requests that run, and the most that ever ran at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def add(self, change: int) -> None:
        with self._lock:
            self.now += change
            self.most = max(self.most, self.now)


class Cycle:
    """An object that only the garbage collector frees."""

    def __init__(self) -> None:
        self.itself = self


running = Running()
left = WeakSet[Cycle]()


def answer(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if path.startswith(CHECKOUT):
        return wsgi_application(environ, start_response)
    if path == WAITING:
        context.begin_wait()
        threading.Event().wait(WAIT_SECONDS)
    if path in (RUNNING, *PAGES):
        running.add(1)
        time.sleep(RUN_SECONDS)
        running.add(-1)
        left.add(Cycle())
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str({MOST: running.most, LEFT: len(left)}.get(path, "answered")).encode()]


application = Front(answer)
