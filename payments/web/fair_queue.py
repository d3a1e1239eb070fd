"""A fair queue for the requests that are ready to run in one process."""

import asyncio
from collections import deque
from collections.abc import Hashable

from payments.domain.bulkheads import Slots


class Turn:
    """The place of one request of `caller`, which may run after `begun` is done and until `end`."""

    def __init__(self, queue: "FairQueue", caller: Hashable) -> None:
        self.caller = caller
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue = queue
        self._is_over = False

    def end(self) -> None:
        """Let the next request run, or leave the queue; do nothing the second time."""
        if not self._is_over:
            self._is_over = True
            self._queue.end(self)


class FairQueue:
    """A fair queue: at most `most` requests run at once, and one caller has no more of them than are left free.

    Callers with waiting requests are served in rotation, so that a burst of one caller delays its own requests and
    hardly those of others. Of a crowd of callers, those without a running request come first.
    """

    def __init__(self, most: int) -> None:
        self._slots = Slots(most, most)
        # Waiting requests by caller, the next caller first.
        self._lines: dict[Hashable, deque[Turn]] = {}

    def begin(self, caller: Hashable) -> Turn:
        """Return a turn that has begun or waits in the queue of `caller`."""
        turn = Turn(self, caller)
        if caller not in self._lines and self._slots.take(caller):
            turn.begun.set_result(None)
        else:
            self._lines.setdefault(caller, deque()).append(turn)
        return turn

    def end(self, turn: Turn) -> None:
        """Give the place of `turn` to the next one, or remove it from its queue."""
        if not turn.begun.done():
            self._lines[turn.caller].remove(turn)
            self._drop_if_empty(turn.caller)
            return
        self._slots.give_back(turn.caller)
        for caller in list(self._lines):
            if self._slots.take(caller):
                self._serve(caller)

    def _serve(self, caller: Hashable) -> None:
        line = self._lines.pop(caller)
        line.popleft().begun.set_result(None)
        if line:
            self._lines[caller] = line

    def _drop_if_empty(self, caller: Hashable) -> None:
        if not self._lines[caller]:
            del self._lines[caller]
