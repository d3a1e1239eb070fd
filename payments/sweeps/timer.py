"""The timer of a worker: one thread that claims due sweeps and hands them to the worker's threads."""

import logging
import os
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from django.db import Error

from payments import ids
from payments.concurrency.connections import release_connection
from payments.models.worker import HOST_MAX_LENGTH
from payments.sweeps import claims, heartbeats
from payments.sweeps.claims import Claim, Run
from payments.sweeps.table import SWEEPS

logger = logging.getLogger("kaha.sweeps")

TICK_SECONDS = 0.5
HEARTBEAT_SECONDS = 10.0
HOUSEKEEPING_SECONDS = 60.0
# The log says once in this time that the database does not answer.
COMPLAINT_SECONDS = 60.0


class Every:
    """Becomes due every `seconds`, first at once."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._due_at = seconds, 0.0

    def is_due(self) -> bool:
        """Return whether it is due; then it is not for `seconds`."""
        now = time.monotonic()
        if now < self._due_at:
            return False
        self._due_at = now + self._seconds
        return True


class Timer:
    """Runs sweeps when they are due, as long as the database answers.

    `submit` hands a call to one of `threads` threads; `run` runs a sweep by its name and returns the class of its
    error, "" if it worked.
    """

    def __init__(self, submit: Callable[[Callable[[], None]], object], run: Callable[[str], str], threads: int) -> None:
        self.id = ids.new_id()
        self.host = this_host()
        self._submit, self._run_sweep, self._threads = submit, run, threads
        self._lock = threading.Lock()
        self._running: list[Claim] = []
        self._ended: deque[Run] = deque()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._tick_until_stopped, name="sweep-timer", daemon=True)
        self._heartbeat, self._housekeeping = Every(HEARTBEAT_SECONDS), Every(HOUSEKEEPING_SECONDS)
        self._complaint = Every(COMPLAINT_SECONDS)

    @property
    def busy(self) -> int:
        """The threads that run a sweep."""
        return len(self._running)

    def start(self) -> None:
        self._thread.start()

    def stop_claiming(self) -> None:
        """Begin no other sweep; those under way end."""
        self._stopping.set()

    def stop(self) -> None:
        """Begin no other sweep, wait for those under way, and record that this worker has ended."""
        self.stop_claiming()
        self._thread.join()

    def _tick_until_stopped(self) -> None:
        while self._running or not self._stopping.is_set():
            try:
                self._tick()
            except Exception:
                if self._complaint.is_due():
                    logger.exception("The sweeps wait for the database.")
            finally:
                with suppress(Error):
                    release_connection()
            time.sleep(TICK_SECONDS)
        with suppress(Error):
            self._record_ended()
            heartbeats.end(self.id)
            release_connection()

    def _tick(self) -> None:
        if self._housekeeping.is_due():
            claims.register()
            heartbeats.delete_old()
        if self._heartbeat.is_due():
            heartbeats.beat(self.id, self.host, os.getpid(), self.busy, self._threads)
            self._renew()
        self._record_ended()
        if not self._stopping.is_set():
            self._claim_due()

    def _renew(self) -> None:
        with self._lock:
            held = list(self._running)
        claims.renew(self.id, held)

    def _claim_due(self) -> None:
        with self._lock:
            counts = Counter(claim.name for claim in self._running)
        free = [name for name, schedule in SWEEPS.items() if counts[name] < schedule.at_once]
        places = self._threads - counts.total()
        if not places:
            return
        for claim in claims.claim(self.id, free, places):
            # The lock keeps the run from ending before it is counted.
            with self._lock:
                self._submit(partial(self._run, claim))
                self._running.append(claim)

    def _run(self, claim: Claim) -> None:
        started, error = time.perf_counter(), "Interrupted"
        try:
            error = self._run_sweep(claim.name)
        finally:
            milliseconds = round((time.perf_counter() - started) * 1000)
            with self._lock:
                self._ended.append(Run(claim, milliseconds, error))
                self._running.remove(claim)

    def _record_ended(self) -> None:
        with self._lock:
            ended = list(self._ended)
        claims.finish(self.id, ended)
        with self._lock:
            for _ in ended:
                self._ended.popleft()


def this_host() -> str:
    """Return the name under which this machine's workers are recorded."""
    return socket.gethostname()[:HOST_MAX_LENGTH]
