"""The worker's loop: claim due webhooks, send many at once, record their attempts.

All of it runs on one event loop, so that recording and sending do not wait for each other.
"""

import asyncio
import threading
import time
from collections.abc import Callable

import uvloop
from psycopg import AsyncConnection

from payments import clock
from payments.failpoints import Failpoint, reached
from payments.webhooks.attempts import Attempts, Clock
from payments.webhooks.claim_connection import connect
from payments.webhooks.claims import CLAIM_LIMIT, Claims, Owner, anything_due, claim, record, release
from payments.webhooks.receiver_queues import SlowReceivers
from payments.webhooks.scan_window import ScanWindow
from payments.webhooks.signing_secrets import Keyring
from payments.webhooks.transport.client import Transport
from payments.webhooks.wake_up import AWAKE_SECONDS


class ReceiverWindows:
    """The position of the next claim among the receivers of merchants with more receivers than one claim reads."""

    def __init__(self) -> None:
        self.after: dict[Owner, str] = {}
        # Whose receivers were not all looked at since something was claimed.
        self.unfinished: set[Owner] | None = None

    def move(self, claims: Claims) -> None:
        """Continue behind the receivers that `claims` read; at the end, start again."""
        self.after = claims.windows
        begun = self.after.keys() if claims.batch or self.unfinished is None else self.unfinished
        self.unfinished = set(begun & self.after.keys())


class DeliveryLoop:
    """Sends until nothing is due at `now()`, and was not for `awake_seconds`.

    A database that goes away ends it: claimed webhooks are sent again when their lease expires.
    """

    def __init__(
        self, now: Clock = clock.now, transport: Callable[[], Transport] = Transport, awake_seconds: float = 0.0
    ) -> None:
        self._now = now
        self._transport = transport
        self._awake_seconds = awake_seconds
        self._scan_window = ScanWindow()
        self._slow = SlowReceivers()
        self._stopped = threading.Event()

    def run(self) -> int:
        """Send what is due; return how many attempts were made."""
        now = self._now()
        span = self._scan_window.at(now)
        if anything_due(now, span):
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                return runner.run(self._run())
        self._scan_window.looked(span, now)
        return 0

    def stop(self) -> None:
        """Stop, from any thread: no other attempt begins, and those under way finish."""
        self._stopped.set()

    @property
    def slow_receivers(self) -> int:
        return self._slow.count

    async def _run(self) -> int:
        async with self._transport() as transport, await connect() as database:
            attempts, keyring, windows = (
                Attempts(transport, self._now, self._slow),
                Keyring(database),
                ReceiverWindows(),
            )
            count, awake_until = 0, 0.0
            while True:
                ended = attempts.take_ended()
                await record(database, ended)
                count += len(ended)
                claimed_count = await self._claim_more(database, attempts, keyring, windows)
                if ended or claimed_count:
                    awake_until = time.monotonic() + self._awake_seconds
                is_idle = not windows.unfinished and time.monotonic() >= awake_until
                if attempts.over and (self._stopped.is_set() or is_idle):
                    return count
                # After a full batch there is more, to be fetched while this one is sent.
                if claimed_count < CLAIM_LIMIT:
                    await attempts.wait(others_expected=claimed_count > 0)

    async def _claim_more(
        self, database: AsyncConnection, attempts: Attempts, keyring: Keyring, windows: ReceiverWindows
    ) -> int:
        """Claim and start more; return how many."""
        if self._stopped.is_set():
            await release(database, attempts.give_up_waiting())
            return 0
        shares = attempts.shares()
        limit = min(shares.room, CLAIM_LIMIT)
        if not limit:
            return 0
        now = self._now()
        span = self._scan_window.at(now)
        claims = await claim(database, limit, now, span, shares, windows.after)
        windows.move(claims)
        self._scan_window.looked(span, now, [claimed.id for claimed in claims.batch])
        if claims.batch:
            reached(Failpoint.CLAIMED)
            whose = {(claimed.merchant_id, claimed.livemode, claimed.endpoint_id) for claimed in claims.batch}
            attempts.start(claims.batch, await keyring.signers_of(whose, self._now()))
        return len(claims.batch)


class SharedDeliveryLoop:
    """The one delivery loop of a process, shared by its callers."""

    def __init__(self, loop: DeliveryLoop) -> None:
        self._loop = loop
        self._wanted = threading.Event()
        self._running = threading.Lock()

    def run(self) -> int:
        """Send what is due and return the number of attempts; 0 where the loop is running, which then repeats."""
        self._wanted.set()
        if not self._running.acquire(blocking=False):
            return 0
        try:
            return self._run()
        finally:
            self._running.release()

    def stop(self) -> None:
        self._loop.stop()

    @property
    def slow_receivers(self) -> int:
        """How many receivers took long over their last attempt, or did not answer it."""
        return self._loop.slow_receivers

    def _run(self) -> int:
        count = 0
        while self._wanted.is_set():
            self._wanted.clear()
            count += self._loop.run()
        return count


DELIVERER = SharedDeliveryLoop(DeliveryLoop(awake_seconds=AWAKE_SECONDS))
