"""Whose request runs next, where more of them are ready than one process should run at once."""

import asyncio
from collections import deque
from collections.abc import Hashable

from payments.domain.bulkheads import Places


class Turn:
    """The turn of one request of `caller`, which may run as soon as `begun` is done, until `end`."""

    def __init__(self, turns: "Turns", caller: Hashable) -> None:
        self.caller = caller
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turns = turns
        self._is_over = False

    def end(self) -> None:
        """Let the next request run, or leave the line; do nothing the second time."""
        if not self._is_over:
            self._is_over = True
            self._turns.end(self)


class Turns:
    """At most `most` requests run at once, of which one caller has no more than are left free.

    Callers with requests that wait are served in rotation, so that a burst of one caller delays its own requests and
    hardly those of others. A caller of whom nothing runs never waits.
    """

    def __init__(self, most: int) -> None:
        self._places = Places(most, most)
        # The callers of whom requests wait, the next one first.
        self._lines: dict[Hashable, deque[Turn]] = {}

    def begin(self, caller: Hashable) -> Turn:
        """Return a turn that has begun or waits in the line of `caller`."""
        turn = Turn(self, caller)
        if caller not in self._lines and self._places.take(caller):
            turn.begun.set_result(None)
        else:
            self._lines.setdefault(caller, deque()).append(turn)
        return turn

    def end(self, turn: Turn) -> None:
        """Give the place of `turn` to the next one, or take it out of its line."""
        if not turn.begun.done():
            self._lines[turn.caller].remove(turn)
            self._drop_if_empty(turn.caller)
            return
        self._places.give_back(turn.caller)
        for caller in list(self._lines):
            if self._places.take(caller):
                self._serve(caller)

    def _serve(self, caller: Hashable) -> None:
        line = self._lines.pop(caller)
        line.popleft().begun.set_result(None)
        if line:
            self._lines[caller] = line

    def _drop_if_empty(self, caller: Hashable) -> None:
        if not self._lines[caller]:
            del self._lines[caller]
