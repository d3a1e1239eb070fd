"""A circuit breaker whose probe runs in a thread of its own, so that no caller waits for a server that hangs."""

import time
from collections.abc import Callable
from threading import Lock, Thread
from typing import TypeVar

Answer = TypeVar("Answer")


class CircuitOpen(Exception):
    """The server failed a moment ago and is not asked for now."""


class CircuitBreaker:
    """Closed, it lets every call through. A failure opens it, and it refuses every call.

    `retry_seconds` later it is half-open: the next call is refused, too, and starts `probe` in the background. A probe
    without an error closes the breaker; one with an error keeps it open for another `retry_seconds`.
    """

    def __init__(self, retry_seconds: float, probe: Callable[[], object]) -> None:
        self.retry_seconds, self._probe = retry_seconds, probe
        self._is_open = False
        self._probe_due = 0.0
        self._lock = Lock()

    def call(self, ask: Callable[[], Answer]) -> Answer:
        """Return what `ask` returns. Raise CircuitOpen, or what `ask` raises, which opens the breaker."""
        if self._is_open:
            self._begin_probe()
            raise CircuitOpen
        try:
            return ask()
        except BaseException:
            self._open()
            raise

    def make_probe_due(self) -> None:
        """Let the next call start a probe."""
        self._probe_due = 0.0

    def _begin_probe(self) -> None:
        with self._lock:
            if time.monotonic() < self._probe_due:
                return
            # No other call starts one while this one is under way.
            self._probe_due = float("inf")
        Thread(target=self._run_probe, name="probe", daemon=True).start()

    def _run_probe(self) -> None:
        try:
            self._probe()
        except Exception:  # noqa: BLE001 # a probe that fails in any way leaves the server out
            self._open()
        else:
            self._is_open = False

    def _open(self) -> None:
        with self._lock:
            self._is_open = True
            self._probe_due = time.monotonic() + self.retry_seconds
