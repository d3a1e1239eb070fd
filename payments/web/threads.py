"""The threads that run the WSGI application, each with a whole request."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any
from wsgiref.types import WSGIApplication

from cachetools import LRUCache

from payments import context
from payments.api.access.authentication import MERCHANT_OF_REQUEST, caller_of
from payments.domain.bulkheads import Places
from payments.web.environ import Environ, request_of
from payments.web.fair_queue import FairQueue
from payments.web.refusals import Refused, too_many_requests
from payments.web.responses import Answer, Client, Pieces, Receive, Send, answer_of

MOST_KEYS = 10_000


class Callers:
    """Finds the merchant of a request by a secret or restricted key that has worked in this process."""

    def __init__(self) -> None:
        self._merchants: LRUCache[str, Hashable] = LRUCache(MOST_KEYS)
        self._lock = Lock()

    def caller_of(self, environ: Environ) -> Hashable:
        """Return the merchant, or the address if the key is not known yet."""
        with self._lock:
            merchant = self._merchants.get(_credentials(environ))
        return merchant or caller_of(request_of(environ))

    def learn(self, environ: Environ) -> None:
        """Remember the merchant of a request that was answered."""
        if merchant := environ.get(MERCHANT_OF_REQUEST):
            with self._lock:
                self._merchants[_credentials(environ)] = merchant


def _credentials(environ: Environ) -> str:
    return environ.get("HTTP_AUTHORIZATION", "")


class Threads:
    """A pool of `count` threads, and a queue of as many more requests.

    At most `running` of the threads run at the same time; the others wait for a provider or something else that is
    slow. One caller, a merchant or an address, takes no more places than are left free, so that a burst of its
    requests leaves places for others.
    """

    def __init__(self, application: WSGIApplication, count: int, running: int) -> None:
        self._application, self._count = application, count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="request")
        self._begun = 0
        self._room = Places(2 * count, 2 * count)
        self._callers, self._queue = Callers(), FairQueue(running)

    @property
    def are_taken(self) -> bool:
        """Whether the next request has to queue."""
        return self._begun >= self._count

    @property
    def in_use(self) -> int:
        return min(self._begun, self._count)

    @property
    def waiting(self) -> int:
        """The requests that wait for a thread."""
        return self._begun - self.in_use

    async def answer(self, environ: Environ, receive: Receive, send: Send) -> Answer | None:
        """Return the response of a thread, or None if it was sent already or the client has left.

        Raises Refused if the queue is full. A client that disconnects while its request is queued frees its place.
        """
        caller = self._callers.caller_of(environ)
        if self._begun >= 2 * self._count or not self._room.take(caller):
            raise Refused(too_many_requests())
        self._begun += 1
        try:
            return await self._answer_in_turn(caller, environ, receive, send)
        finally:
            self._begun -= 1
            self._room.give_back(caller)
            self._callers.learn(environ)

    async def _answer_in_turn(self, caller: Hashable, environ: Environ, receive: Receive, send: Send) -> Answer | None:
        turn, loop, may_wait = self._queue.begin(caller), asyncio.get_running_loop(), self.are_taken
        client = Client(receive)
        try:
            if not turn.begun.done() and await client.leaves_before(turn.begun):
                return None
            pieces = Pieces(send, client, loop)
            end_turn = partial(loop.call_soon_threadsafe, turn.end)
            work = self._pool.submit(_run, end_turn, self._application, environ, pieces)
            answer = asyncio.wrap_future(work)
            if may_wait and await client.leaves_before(answer) and work.cancel():
                return None
            return await answer
        finally:
            turn.end()
            client.stop_watching()


def _run(end_turn: Callable[[], object], *request: Any) -> Answer | None:
    token = context.on_wait.set(end_turn)
    try:
        return answer_of(*request)
    finally:
        context.on_wait.reset(token)
