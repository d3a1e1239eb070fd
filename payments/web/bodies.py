"""Bodies, read whole before a thread is taken, with a deadline and a bound for those that are late."""

import asyncio
from collections import Counter
from concurrent.futures import Executor
from dataclasses import dataclass

from payments.api.errors import ApiError, invalid_json, rate_limited
from payments.api.throttling import counted_address
from payments.web.answers import Receive
from payments.web.environ import Environ
from payments.web.keys import key_error
from payments.web.refusals import Refused, too_many_bodies, too_slow
from payments.web.requests import has_body, is_api_path, request_of, stated_length

# A body usually comes with its headers; one that takes longer is late, and is counted.
PROMPT_SECONDS = 0.05
# Late bodies in one process, and of these from one address.
MOST_LATE = 500
MOST_LATE_BY_ADDRESS = 50


@dataclass(frozen=True)
class BodyLimits:
    """How long a body may be, and how long it may take."""

    length_bytes: int
    deadline_seconds: int


class LateBodies:
    """Counts the requests that wait for their bodies, in all and by address."""

    def __init__(self) -> None:
        self._by_address: Counter[str] = Counter()

    def add(self, address: str) -> None:
        """Counts one more. Raises Refused where there are as many as may be."""
        if self._by_address[address] >= MOST_LATE_BY_ADDRESS:
            raise Refused(rate_limited(1))
        if self._by_address.total() >= MOST_LATE:
            del self._by_address[address]
            raise Refused(too_many_bodies())
        self._by_address[address] += 1

    def remove(self, address: str) -> None:
        """Counts one less."""
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


class Body:
    """The body of one request, on its way.

    What refuses it cancels the task that reads: a read that is cut short may have lost a piece, so nobody goes on
    reading after one.
    """

    def __init__(self, environ: Environ, limits: BodyLimits, late: LateBodies, lookups: Executor) -> None:
        self._environ, self._limits, self._late, self._lookups = environ, limits, late, lookups
        self._loop = asyncio.get_running_loop()
        self._address: str | None = None
        self._lookup: asyncio.Task[None] | None = None
        self._refusal: ApiError | None = None

    async def read(self, receive: Receive) -> bytes:
        """Returns all of it, up to one byte more than may be. Raises Refused where it is late, or breaks off."""
        self._reader = asyncio.current_task()
        self._timer = self._loop.call_later(PROMPT_SECONDS, self._become_late)
        try:
            return await self._whole(receive)
        except asyncio.CancelledError:
            if self._refusal is None or self._reader is None:
                raise
            self._reader.uncancel()
            raise Refused(self._refusal) from None
        finally:
            self._timer.cancel()
            if self._lookup:
                self._lookup.cancel()
            if self._address is not None:
                self._late.remove(self._address)

    async def _whole(self, receive: Receive) -> bytes:
        body, stated = bytearray(), stated_length(self._environ)
        while len(body) <= self._limits.length_bytes and len(body) != stated:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refused(invalid_json("The body broke off."))
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        return bytes(body)

    def _become_late(self) -> None:
        address = counted_address(request_of(self._environ))
        try:
            self._late.add(address)
        except Refused as refused:
            self._refuse(refused.error)
            return
        self._address = address
        deadline_seconds = self._limits.deadline_seconds
        self._timer = self._loop.call_later(deadline_seconds, self._refuse, too_slow(deadline_seconds))
        if is_api_path(self._environ["PATH_INFO"]):
            self._lookup = self._loop.create_task(self._look_up_key())

    async def _look_up_key(self) -> None:
        error = await self._loop.run_in_executor(self._lookups, key_error, self._environ)
        if error:
            self._refuse(error)

    def _refuse(self, error: ApiError) -> None:
        if self._reader and not self._refusal:
            self._refusal = error
            self._reader.cancel()


class Bodies:
    """Reads the bodies of all requests of a process."""

    def __init__(self, limits: BodyLimits, lookups: Executor) -> None:
        self._limits, self._lookups = limits, lookups
        self._late = LateBodies()

    async def read(self, environ: Environ, receive: Receive) -> bytes | None:
        """Returns the body; None where there is none, or where it says that it is too long. Raises Refused."""
        if not has_body(environ) or stated_length(environ) > self._limits.length_bytes:
            return None
        return await Body(environ, self._limits, self._late, self._lookups).read(receive)
