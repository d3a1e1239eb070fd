"""The circuit breaker of a server that this process asks: PostgreSQL, Redis."""

import logging
from collections.abc import Callable
from threading import Event, Lock, Thread

logger = logging.getLogger("kaha.circuit_breaker")


class CircuitBreaker:
    """Open after its server failed, until a probe of it works.

    A background thread runs the probe every `retry_seconds`, so that no call waits as a probe, and it closes without
    calls too. `name` is the server's in log lines.
    """

    def __init__(self, name: str, retry_seconds: float) -> None:
        self.is_open = False
        self.name, self._retry_seconds = name, retry_seconds
        self._lock = Lock()
        # Set when the background thread is to end.
        self._given_up = Event()

    def open(self, probe: Callable[[], object]) -> bool:
        """Open until `probe` raises nothing; return whether it was closed."""
        with self._lock:
            was_open, self.is_open = self.is_open, True
            if not was_open:
                self._given_up = given_up = Event()
                Thread(target=self._run_probe, args=[probe, given_up], name="probe", daemon=True).start()
        return not was_open

    def close(self) -> None:
        """Probe no more: the next call finds out whether the server answers."""
        with self._lock:
            self._given_up.set()
            self.is_open = False

    def _run_probe(self, probe: Callable[[], object], given_up: Event) -> None:
        while not given_up.wait(self._retry_seconds):
            fault = _fault_of(probe)
            with self._lock:
                if given_up.is_set():
                    return
                self.is_open = bool(fault)
            if not fault:
                logger.info("%s answers again.", self.name)
                return
            logger.warning("%s does not answer yet.", self.name, extra={"why": fault})


def _fault_of(probe: Callable[[], object]) -> str:
    """Return the class of the error of a probe, "" if it worked."""
    try:
        probe()
    except Exception as error:  # noqa: BLE001 # a probe that fails in any way leaves the server out
        return type(error).__name__
    return ""
