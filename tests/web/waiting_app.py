"""A WSGI application behind our front: one path waits for as long as a test wants, others count what runs and is left.

The host has one turn, which is waited for however long the machine takes.

All other paths are ours.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import Any
from weakref import WeakSet
from wsgiref.types import StartResponse

from config.wsgi import application as wsgi_application  # Django is set up by it

# isort: split
from payments import context
from payments.concurrency import host_turns
from payments.web.front import Front
from payments.web.threads import Threads

PAGES = ("/admin/running", "/links/running")
RUN_SECONDS = 0.02
host_turns.FILES, host_turns.MOST_SECONDS = host_turns.FILES[:1], 600.0


class Running:
    """Counts the requests that run, and the most that ran at once since that was last asked."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def add(self, change: int) -> None:
        with self._lock:
            self.now += change
            self.most = max(self.most, self.now)

    def take_most(self) -> int:
        with self._lock:
            most, self.most = self.most, self.now
        return most


class Cycle:
    """An object that only the garbage collector frees."""

    def __init__(self) -> None:
        self.itself = self


running = Running()
left = WeakSet[Cycle]()


def wait() -> None:
    """Wait for as long as the test holds the lock of the file."""
    context.begin_wait()
    with Path(os.environ["HELD_FILE"]).open() as held:
        flock(held, LOCK_SH)


def run() -> None:
    running.add(1)
    time.sleep(RUN_SECONDS)
    running.add(-1)
    left.add(Cycle())


def run_alone() -> bool:
    """Return whether no other process does the same meanwhile."""
    with Path(__file__).open() as file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        time.sleep(RUN_SECONDS)
    return True


def taken(threads: Threads) -> int:
    """Return how many requests have a thread, as this one has, wait for one or wait for events."""
    return threads.in_use + threads.waiting + threads.waits._count


ANSWERS: dict[str, Callable[[], object]] = {
    **dict.fromkeys(("/waiting", "/links/waiting"), wait),
    **dict.fromkeys(("/running", *PAGES), run),
    "/merchant/running": run_alone,
    "/most": running.take_most,
    "/left": lambda: len(left),
    "/taken": lambda: taken(application._threads),
}


def answer(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    answer_to = ANSWERS.get(environ["PATH_INFO"])
    if answer_to is None:
        return wsgi_application(environ, start_response)
    text = str(answer_to())
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [text.encode()]


application = Front(answer)
