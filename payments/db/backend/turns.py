"""Whose turn it is, where only so many threads may do something at once."""

from collections import deque
from collections.abc import Hashable
from threading import Lock


class Turns:
    """At most `most` at once. Each merchant has a line of its own, and the lines are served in rotation.

    So a merchant waits for at most one turn of each other merchant, however many requests they have waiting. Within a
    line whoever has waited longest is next. Python's semaphores let a thread that comes again overtake those that
    wait, and a payment comes four times.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        # The lines that have somebody waiting, the next one first.
        self._lines: dict[Hashable, deque[Lock]] = {}
        self._lock = Lock()

    def begin(self, timeout_seconds: float, merchant: Hashable = None) -> bool:
        """Wait for a turn in the line of `merchant`, None for requests without one; False where none came in time."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            # Taken already, so that to take it again is to wait until `end` lets go of it.
            mine = Lock()
            mine.acquire()
            self._lines.setdefault(merchant, deque()).append(mine)
        return mine.acquire(timeout=timeout_seconds) or not self._leave(merchant, mine)

    def end(self) -> None:
        """Hand a turn on to the first of the next line, if anybody waits."""
        with self._lock:
            if not self._lines:
                self._free += 1
                return
            merchant = next(iter(self._lines))
            line = self._lines.pop(merchant)
            line.popleft().release()
            if line:
                self._lines[merchant] = line

    def _leave(self, merchant: Hashable, mine: Lock) -> bool:
        """Leave the line; False where its turn has come at the last moment."""
        with self._lock:
            line = self._lines.get(merchant, ())
            if mine not in line:
                return False
            self._lines[merchant].remove(mine)
            if not self._lines[merchant]:
                del self._lines[merchant]
            return True
