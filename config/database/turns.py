"""Whose turn it is, where only so many threads may do something at once."""

from collections import deque
from threading import Lock


class Turns:
    """At most `most` at once, and whoever has waited longest is next.

    Python's semaphores let a thread that comes again overtake those that wait, and a payment comes four times.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting: deque[Lock] = deque()
        self._lock = Lock()

    def begin(self, timeout_seconds: float) -> bool:
        """Waits for a turn; False where none came in time."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            # Taken already, so that to take it again is to wait until `end` lets go of it.
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        return mine.acquire(timeout=timeout_seconds) or not self._gives_up(mine)

    def end(self) -> None:
        """Hands a turn on to whoever waits, if anybody does."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1

    def _gives_up(self, mine: Lock) -> bool:
        """Leaves the line; False where its turn has come at the last moment."""
        with self._lock:
            if mine in self._waiting:
                self._waiting.remove(mine)
                return True
            return False
