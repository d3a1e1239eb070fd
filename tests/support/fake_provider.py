"""The fake provider: a server with the dialect of a provider, whose answers are spoilt where a test wants it."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from tests.support.http_server import Answer, Answered, Asked, Server, Silence


class Spoilt(StrEnum):
    """The fate of a request or of its answer."""

    LOST = "lost"  # done; the connection is closed instead of the answer
    CUT = "cut"  # done; half of the answer comes back
    GARBLED = "garbled"  # done; the answer is no JSON
    FAILING = "failing"  # done; the answer says 500
    OTHER_AMOUNT = "other amount"  # done; the answer names another amount than was asked for
    BUSY = "busy"  # not done: too many requests
    DOWN = "down"  # not done: the answer says 500, to a lookup too
    DROPPED = "dropped"  # not done; the connection is closed instead of the answer
    DELAYED = "delayed"  # done; the answer takes longer than anybody waits


def _cut(answered: Answered) -> Answered:
    content = answered.content
    return replace(answered, body=content[: len(content) // 2], length=len(content))


# What is answered where nothing was done.
UNDONE = {Spoilt.BUSY: Answered(429, {}), Spoilt.DOWN: Answered(500, {}), Spoilt.DROPPED: Silence.DROPPED}
# What is answered where all was done, instead of the answer.
DONE: dict[Spoilt, Callable[[Answered], Answered | Silence]] = {
    Spoilt.LOST: lambda _: Silence.DROPPED,
    Spoilt.CUT: _cut,
    Spoilt.GARBLED: lambda answered: replace(answered, body=b"<html>Bad gateway</html>"),
    Spoilt.FAILING: lambda _: Answered(500, {}),
    Spoilt.DELAYED: lambda _: Silence.HUNG,
}


class FakeProvider(Server):
    """Answers as one provider does, by the dialect's `answer`, but for what is spoilt.

    `overstate` makes another amount of the one that an answer names. `spoilt` counts by method what was spoilt how.
    """

    def __init__(self, answer: Answer, overstate: Callable[[Any], Any]) -> None:
        super().__init__(answer)
        self._instead = {
            **DONE,
            Spoilt.OTHER_AMOUNT: lambda given: replace(given, body=overstate(given.body), headers={}),
        }
        self.spoilt: Counter[tuple[str, Spoilt]] = Counter()
        self._spoils: deque[Spoilt | None] = deque()
        self._spoiling = threading.Lock()

    def spoil_next(self, how: Spoilt) -> None:
        """Spoil the next request that is not spoilt yet."""
        self._spoils.append(how)

    def spoil_all(self, hows: Sequence[Spoilt | None]) -> None:
        """Spoil the next requests, one by one; None lets one through."""
        self._spoils.extend(hows)

    def calm(self) -> None:
        """Send further requests without a fault."""
        self._spoils.clear()

    def respond(self, asked: Asked) -> Answered | Silence:
        """Return the dialect's answer, or what a spoilt request is answered."""
        how = self._next_spoil(asked.method)
        if how in UNDONE:
            return UNDONE[how]
        answered = super().respond(asked)
        return self._instead[how](answered) if how and isinstance(answered, Answered) else answered

    def _next_spoil(self, method: str) -> Spoilt | None:
        """Return how to spoil this request; None where it is answered properly.

        A lookup fails only in the ways that a lookup can.
        """
        with self._spoiling:
            if not self._spoils or (method == "GET" and self._spoils[0] is not Spoilt.DOWN):
                return None
            how = self._spoils.popleft()
            if how:
                self.spoilt[method, how] += 1
            return how
