"""Sends what is due: takes notifications in hand, sends many at once, puts down what became of them.

The database is asked between two runs of the event loop, never inside: sends under way stand still for those few
milliseconds, and there is one thread, one connection, and no transaction while anything is sent.
"""

import asyncio
import logging
import random
import threading
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from datetime import datetime

from django.conf import settings

from payments import clock
from payments.ids import public_id
from payments.notifications.leasing import Claimed, Made, claim, record
from payments.notifications.results import Answer, Failure, FailureKind
from payments.notifications.secrets import Secrets, valid_secrets
from payments.notifications.signing import headers_of
from payments.notifications.transport import Transport
from payments.notifications.verdicts import made_of

logger = logging.getLogger("kaha.notifications")

Clock = Callable[[], datetime]

SENDS_AT_ONCE = 200
# While others are still under way: how long to wait for one to end before looking for what has become due,
# and how long to gather those that end next to it.
LOOK_SECONDS = 0.25
GATHER_SECONDS = 0.005


class Sender:
    """Tries under way on one event loop. `now` tells the time at which they start and end."""

    def __init__(self, transport: Transport, now: Clock) -> None:
        self._transport = transport
        self._now = now
        self._under_way: set[asyncio.Task[Made]] = set()

    @property
    def room(self) -> int:
        """How many more may be sent."""
        return SENDS_AT_ONCE - len(self._under_way)

    @property
    def is_idle(self) -> bool:
        return not self._under_way

    async def send(self, batch: Collection[Claimed], secrets: Secrets) -> list[Made]:
        """Starts the tries of `batch`; returns those tries, of this batch or an earlier one, that have ended."""
        self._under_way |= {asyncio.create_task(self._try(claimed, secrets)) for claimed in batch}
        await asyncio.wait(self._under_way, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        ended, self._under_way = await asyncio.wait(self._under_way, timeout=GATHER_SECONDS)
        return [task.result() for task in ended]

    async def _try(self, claimed: Claimed, secrets: Secrets) -> Made:
        started_at = self._now()
        try:
            result = await self._send(claimed, started_at, secrets[claimed.merchant_id, claimed.livemode])
        except Exception:
            logger.exception("a try broke", extra={"event": public_id("evt", claimed.event_id)})
            result = Failure(FailureKind.BROKEN, 0)
        return made_of(claimed, result, started_at, self._now(), random.random())  # noqa: S311  spreads load only

    async def _send(self, claimed: Claimed, moment: datetime, secrets: list[str]) -> Answer | Failure:
        event_id, prefix = public_id("evt", claimed.event_id), settings.NOTIFY_HEADER_PREFIX
        headers = headers_of(event_id, claimed.payload, moment, secrets, prefix)
        return await self._transport.send(claimed.url, claimed.payload, headers, claimed.livemode)


class Drain:
    """Sends until nothing is due; `now` tells the time by which things are due.

    A database that goes away ends it: what was in hand is sent again when its lease is over.
    """

    def __init__(self, now: Clock = clock.now, transport: Callable[[], Transport] = Transport) -> None:
        self._now = now
        self._transport = transport
        self._stopped = threading.Event()

    def run(self) -> int:
        """Returns how many tries were made."""
        with asyncio.Runner() as runner:
            stack = AsyncExitStack()
            transport = runner.run(stack.enter_async_context(self._transport()))
            try:
                return self._run(runner, Sender(transport, self._now))
            finally:
                runner.run(stack.aclose())

    def stop(self) -> None:
        """From any thread: nothing more is taken in hand, and what is under way is finished."""
        self._stopped.set()

    def _run(self, runner: asyncio.Runner, sender: Sender) -> int:
        count = 0
        ended: list[Made] = []
        while True:
            record(ended)
            count += len(ended)
            batch = [] if self._stopped.is_set() else claim(sender.room, self._now())
            if not batch and sender.is_idle:
                return count
            ended = runner.run(sender.send(batch, self._secrets_for(batch)))

    def _secrets_for(self, batch: Collection[Claimed]) -> Secrets:
        return valid_secrets({claimed.merchant_id for claimed in batch}, self._now()) if batch else {}


class Deliverer:
    """The one drain of a process, whoever asks for it."""

    def __init__(self, drain: Drain) -> None:
        self._drain = drain
        self._wanted = threading.Event()
        self._running = threading.Lock()

    def run(self) -> int:
        """Sends what is due and returns how many tries were made; none where a drain is running, which goes on then."""
        self._wanted.set()
        if not self._running.acquire(blocking=False):
            return 0
        try:
            return self._run()
        finally:
            self._running.release()

    def stop(self) -> None:
        self._drain.stop()

    def _run(self) -> int:
        count = 0
        while self._wanted.is_set():
            self._wanted.clear()
            count += self._drain.run()
        return count
