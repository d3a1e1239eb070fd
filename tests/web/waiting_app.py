"""A WSGI application behind our front: one path waits for as long as a test takes, one counts what runs at once.

Payers' pages are ours.
"""

import threading
import time
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse

from config.wsgi import application as wsgi_application  # Django is set up by it

# isort: split
from payments import context
from payments.web.front import Front

WAITING, RUNNING, MOST = "/waiting", "/running", "/most"
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


running = Running()


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
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(running.most).encode() if path == MOST else b"answered"]


application = Front(answer)
