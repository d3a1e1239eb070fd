"""The circuit breaker for the database connections of a process."""

import logging
import time
from collections.abc import Callable, Hashable
from threading import Event, Lock, Thread

from psycopg import Error, OperationalError

logger = logging.getLogger("kaha.database")

PROBE_PAUSE_SECONDS = 1.0


class NotAnswering(OperationalError):
    """PostgreSQL did not answer in time, and the circuit breaker is open until a probe succeeds."""


class CircuitBreaker:
    """The circuit breaker of one database in one process.

    It opens when PostgreSQL does not answer. A background thread then tries to connect once a second and closes it
    after the first success, so that no request is a probe and it closes without requests too.
    """

    def __init__(self, name: str = "PostgreSQL") -> None:
        self.is_answering = True
        # In log lines.
        self._name = name
        self._lock = Lock()
        self._probing = Lock()
        # Set when the background thread is to end.
        self._given_up = Event()
        # When each server last answered a probe.
        self._answered_at: dict[Hashable, float] = {}

    def require(self) -> None:
        """Raise NotAnswering while the breaker is open."""
        if not self.is_answering:
            raise NotAnswering(f"{self._name} does not answer.")

    def lose(self, probe: Callable[[], None]) -> None:
        """Open the breaker until `probe` raises nothing."""
        with self._lock:
            was_answering, self.is_answering = self.is_answering, False
            if was_answering:
                self._given_up = given_up = Event()
        if was_answering:
            logger.error("%s does not answer; nothing is asked of it until it does.", self._name)
            Thread(target=self._regain, args=[probe, given_up], name="database-probe", daemon=True).start()

    def give_up(self) -> None:
        """Probe no more, and close the breaker: the next use of the database finds out whether it answers."""
        with self._lock:
            self._given_up.set()
            self.is_answering = True

    def is_there(self, server: Hashable, probe: Callable[[], None]) -> bool:
        """Return whether `server` answers, asked by `probe` at most once in PROBE_PAUSE_SECONDS for all threads."""
        if not self.is_answering:
            return False
        if time.monotonic() - self._answered_at.get(server, 0.0) < PROBE_PAUSE_SECONDS:
            return True
        if not self._probing.acquire(blocking=False):
            # Another thread is asking, and finds out for this one, too.
            return True
        try:
            probe()
        except (Error, OSError) as error:
            # A server that refuses a connection does answer.
            if "FATAL" not in str(error):
                return False
        finally:
            self._probing.release()
        self._answered_at[server] = time.monotonic()
        return True

    def _regain(self, probe: Callable[[], None], given_up: Event) -> None:
        while not given_up.wait(PROBE_PAUSE_SECONDS):
            fault = _fault_of(probe)
            with self._lock:
                if given_up.is_set():
                    return
                self.is_answering = not fault
            if not fault:
                logger.info("%s answers again.", self._name)
                return
            logger.warning("%s does not answer yet.", self._name, extra={"why": fault})


def _fault_of(probe: Callable[[], None]) -> str:
    """Return the class of the error of a probe, "" if it worked."""
    try:
        probe()
    except (Error, OSError) as error:
        return type(error).__name__
    return ""
