"""Sends what is due: takes webhooks in hand, sends many at once, puts down what became of them.

All of it happens on one event loop, where the books are kept while others are sent, so that neither waits for the
other.
"""

import asyncio
import threading
from collections.abc import Callable

from psycopg import AsyncConnection

from payments import clock
from payments.steps import Step, reached
from payments.webhooks.attempts import Clock, Tries
from payments.webhooks.bulkheads import SlowReceivers
from payments.webhooks.claims import CLAIM_LIMIT, Claims, Owner, anything_due, claim, connect, record, release
from payments.webhooks.client import Transport
from payments.webhooks.scan_window import Reach
from payments.webhooks.signing_secrets import Keyring


class Windows:
    """Where claims go on among the receivers of merchants that have more of them than one claim looks at."""

    def __init__(self) -> None:
        self.after: dict[Owner, str] = {}
        # Whose receivers were not all looked at since something was claimed.
        self.unfinished: set[Owner] | None = None

    def move(self, claims: Claims) -> None:
        """Go on behind what `claims` has looked at; where it came to the end, from the start again."""
        self.after = claims.windows
        begun = self.after.keys() if claims.batch or self.unfinished is None else self.unfinished
        self.unfinished = set(begun & self.after.keys())


class Drain:
    """Sends until nothing is due; `now` tells the time by which things are due.

    A database that goes away ends it: what was in hand is sent again when its lease is over.
    """

    def __init__(self, now: Clock = clock.now, transport: Callable[[], Transport] = Transport) -> None:
        self._now = now
        self._transport = transport
        self._reach = Reach()
        self._slow = SlowReceivers()
        self._stopped = threading.Event()

    def run(self) -> int:
        """Returns how many tries were made."""
        now = self._now()
        span = self._reach.at(now)
        if anything_due(now, span):
            return asyncio.run(self._run())
        self._reach.looked(span, now)
        return 0

    def stop(self) -> None:
        """From any thread: no other try begins, and those under way are finished."""
        self._stopped.set()

    async def _run(self) -> int:
        async with self._transport() as transport, await connect() as database:
            tries, keyring, windows, count = Tries(transport, self._now, self._slow), Keyring(database), Windows(), 0
            while True:
                ended = tries.take_ended()
                await record(database, ended)
                count += len(ended)
                claimed_count = await self._go_on(database, tries, keyring, windows)
                if tries.over and (self._stopped.is_set() or not windows.unfinished):
                    return count
                # After a full batch there is more, to be fetched while this one is sent.
                if claimed_count < CLAIM_LIMIT:
                    await tries.wait()

    async def _go_on(self, database: AsyncConnection, tries: Tries, keyring: Keyring, windows: Windows) -> int:
        """Takes more in hand; returns how many."""
        if self._stopped.is_set():
            await release(database, tries.give_up_waiting())
            return 0
        shares = tries.shares()
        limit = min(shares.room, CLAIM_LIMIT)
        if not limit:
            return 0
        now = self._now()
        span = self._reach.at(now)
        claims = await claim(database, limit, now, span, shares, windows.after)
        windows.move(claims)
        self._reach.looked(span, now, [claimed.id for claimed in claims.batch])
        if claims.batch:
            reached(Step.CLAIMED)
            merchants = {claimed.merchant_id for claimed in claims.batch}
            tries.start(claims.batch, await keyring.signers_of(merchants, self._now()))
        return len(claims.batch)


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
