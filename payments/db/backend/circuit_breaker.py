"""The circuit breaker for the database connections of a process."""

import logging
import time
from collections.abc import Callable, Hashable
from threading import Lock, Thread

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

    def __init__(self) -> None:
        self.is_answering = True
        self._lock = Lock()
        self._probing = Lock()
        # When each server last answered a probe.
        self._answered_at: dict[Hashable, float] = {}

    def require(self) -> None:
        """Raise NotAnswering while the breaker is open."""
        if not self.is_answering:
            raise NotAnswering("PostgreSQL does not answer.")

    def lose(self, probe: Callable[[], None]) -> None:
        """Open the breaker until `probe` raises nothing."""
        with self._lock:
            was_answering, self.is_answering = self.is_answering, False
        if was_answering:
            logger.error("PostgreSQL does not answer; nothing is asked of it until it does.")
            Thread(target=self._regain, args=[probe], name="database-probe", daemon=True).start()

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

    def _regain(self, probe: Callable[[], None]) -> None:
        while True:
            time.sleep(PROBE_PAUSE_SECONDS)
            try:
                probe()
            except (Error, OSError) as error:
                logger.warning("PostgreSQL does not answer yet.", extra={"why": type(error).__name__})
            else:
                logger.info("PostgreSQL answers again.")
                self.is_answering = True
                return
