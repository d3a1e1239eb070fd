"""A circuit breaker: of many threads that need a server which does not answer, one at a time tries it."""

import time
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

Answer = TypeVar("Answer")


class CircuitOpen(Exception):
    """The server failed a moment ago and is left alone for now."""


class CircuitBreaker:
    """Closed, it lets every call through. A failure opens it for `retry_seconds`.

    Then it is half-open: one call goes through as a probe, while all others are refused. The probe closes it or opens
    it again.
    """

    def __init__(self, retry_seconds: float) -> None:
        self.retry_seconds = retry_seconds
        self._is_open = False
        self._probe_due = 0.0
        self._is_probing = False
        self._lock = Lock()

    def call(self, ask: Callable[[], Answer]) -> Answer:
        """Returns what `ask` returns. Raises CircuitOpen without a call, or what `ask` raises, which opens it."""
        is_probe = self._is_open and self._begin_probe()
        try:
            answer = ask()
        except BaseException:
            self._open(is_probe)
            raise
        if is_probe:
            self._close()
        return answer

    def make_probe_due(self) -> None:
        """Lets the next call through."""
        self._probe_due = 0.0

    def _begin_probe(self) -> bool:
        with self._lock:
            if not self._is_open:
                return False
            if self._is_probing or time.monotonic() < self._probe_due:
                raise CircuitOpen
            self._is_probing = True
            return True

    def _open(self, is_probe: bool) -> None:
        with self._lock:
            self._is_open = True
            self._probe_due = time.monotonic() + self.retry_seconds
            if is_probe:
                self._is_probing = False

    def _close(self) -> None:
        with self._lock:
            self._is_open = self._is_probing = False
