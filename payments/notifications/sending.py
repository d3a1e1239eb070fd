"""Tries under way: many at once, and of each receiver no more than its share.

Each receiver has a lane in which its notifications wait, and a few runners that take them from there one by one. So
a receiver that hangs holds up its own lane alone.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from payments.ids import public_id
from payments.notifications.leasing import Claimed, Made
from payments.notifications.results import Answer, Failure, FailureKind
from payments.notifications.secrets import Signers
from payments.notifications.transport import Limits, Transport
from payments.notifications.verdicts import made_of

logger = logging.getLogger("kaha.notifications")

Clock = Callable[[], datetime]

IN_HAND_LIMIT = 4000
SENDS_AT_ONCE = 500
SENDS_AT_ONCE_TO_RECEIVER = 50
# While tries are under way: how often to look for what has become due meanwhile, and how long to let those that end
# gather, so that many are put down together.
LOOK_SECONDS = 0.25
GATHER_SECONDS = 0.01
TRY_TIME = timedelta(seconds=Limits().total_seconds)


@dataclass(slots=True)
class Lane:
    """What waits for one receiver, and how many runners take from it."""

    waiting: deque[tuple[Claimed, Signers]] = field(default_factory=deque)
    runners: int = 0


class Tries:
    """The tries of one event loop, which are in hand until they end. `now` tells when they do."""

    def __init__(self, transport: Transport, now: Clock) -> None:
        self._transport = transport
        self._now = now
        self._lanes: dict[str, Lane] = {}
        self._runners: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(SENDS_AT_ONCE)
        self._in_hand = 0
        self._ended: list[Made] = []
        self._any_ended = asyncio.Event()

    @property
    def room(self) -> int:
        """How many more may be in hand."""
        return IN_HAND_LIMIT - self._in_hand

    @property
    def over(self) -> bool:
        """Whether none is in hand and all that ended were taken."""
        return not self._in_hand and not self._ended

    def start(self, batch: Iterable[Claimed], signers: Signers) -> None:
        """Takes `batch` in hand; `signers` has those of all its merchants."""
        for claimed in batch:
            lane = self._lanes.setdefault(claimed.receiver, Lane())
            lane.waiting.append((claimed, signers))
            self._in_hand += 1
            if lane.runners < SENDS_AT_ONCE_TO_RECEIVER:
                self._start_runner(claimed.receiver, lane)

    def take_ended(self) -> list[Made]:
        """Those that have ended since the last time."""
        ended, self._ended = self._ended, []
        self._any_ended.clear()
        return ended

    def give_up_waiting(self) -> list[Claimed]:
        """Lets go of those that have not begun."""
        waiting = [claimed for lane in self._lanes.values() for claimed, _ in lane.waiting]
        for lane in self._lanes.values():
            lane.waiting.clear()
        self._in_hand -= len(waiting)
        return waiting

    async def wait(self) -> None:
        """Until some have ended, LOOK_SECONDS at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._any_ended.wait()
                await asyncio.sleep(GATHER_SECONDS)

    def _start_runner(self, receiver: str, lane: Lane) -> None:
        lane.runners += 1
        runner = asyncio.create_task(self._run(receiver, lane))
        self._runners.add(runner)
        runner.add_done_callback(self._runners.discard)

    async def _run(self, receiver: str, lane: Lane) -> None:
        while lane.waiting:
            async with self._room:
                if lane.waiting:
                    await self._try(*lane.waiting.popleft())
        lane.runners -= 1
        if not lane.runners:
            del self._lanes[receiver]

    async def _try(self, claimed: Claimed, signers: Signers) -> None:
        started_at = self._now()
        # One that waited for too long is left to whoever claims it next, lest two have it in hand.
        if started_at + TRY_TIME < claimed.lease:
            result = await self._result(claimed, started_at, signers)
            self._ended.append(made_of(claimed, result, started_at, self._now(), random.random()))  # nosec B311 # no secret
        self._in_hand -= 1
        self._any_ended.set()

    async def _result(self, claimed: Claimed, moment: datetime, signers: Signers) -> Answer | Failure:
        event_id = public_id("evt", claimed.event_id)
        try:
            signer = signers[claimed.merchant_id, claimed.livemode]
            headers = signer.headers_of(event_id, claimed.payload, moment)
            return await self._transport.send(claimed.url, claimed.payload, headers, claimed.livemode)
        except Exception:
            logger.exception("a try broke", extra={"event": event_id})
            return Failure(FailureKind.BROKEN, 0)
