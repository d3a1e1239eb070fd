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
from payments.api.views.feeds import WAIT
from payments.fair_queue import FairQueue, Slots, Turn
from payments.web.environ import Environ, request_of
from payments.web.refusals import Refused, too_many_requests
from payments.web.responses import Answer, Client, Pieces, Receive, Send, answer_of
from payments.web.waits import Waits

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
    requests leaves places for others. A request that waits for events has left its thread and the queue.
    """

    def __init__(self, application: WSGIApplication, count: int, running: int) -> None:
        self._application, self._count = application, count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="request")
        self._submitted = 0
        self._room = Slots(2 * count, 2 * count)
        self._callers, self._queue, self.waits = Callers(), FairQueue(running), Waits()

    @property
    def are_taken(self) -> bool:
        """Whether no thread is free."""
        return self._submitted >= self._count

    @property
    def in_use(self) -> int:
        return min(self._submitted, self._count)

    @property
    def waiting(self) -> int:
        """The requests that wait for their turn or for a thread."""
        return self._room.taken - self.in_use

    async def answer(self, environ: Environ, receive: Receive, send: Send) -> Answer | None:
        """Return the response of a thread, or None if it was sent already or the client has left.

        Raises Refused if the queue is full. A client that disconnects while its request is queued frees its place.
        """
        client = Client(receive)
        try:
            answer = await self._answer_in_room(environ, client, send)
            wait = environ.get(WAIT)
            return await self.waits.answer(wait, answer, client) if wait else answer
        finally:
            client.stop_watching()

    async def _answer_in_room(self, environ: Environ, client: Client, send: Send) -> Answer | None:
        caller = self._callers.caller_of(environ)
        if not self._room.take(caller):
            raise Refused(too_many_requests())
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turn = self._queue.begin(caller, partial(begun.set_result, None))
        try:
            if not turn.has_begun and await client.leaves_before(begun):
                return None
            return await self._answer_in_thread(turn, environ, client, send)
        finally:
            self._queue.end(turn)
            self._room.give_back(caller)
            self._callers.learn(environ)

    async def _answer_in_thread(self, turn: Turn, environ: Environ, client: Client, send: Send) -> Answer | None:
        loop, may_queue = asyncio.get_running_loop(), self.are_taken
        end_turn = partial(loop.call_soon_threadsafe, self._queue.end, turn)
        self._submitted += 1
        try:
            work = self._pool.submit(_run, end_turn, self._application, environ, Pieces(send, client, loop))
            answer = asyncio.wrap_future(work)
            if may_queue and await client.leaves_before(answer) and work.cancel():
                return None
            return await answer
        finally:
            self._submitted -= 1


def _run(end_turn: Callable[[], object], *request: Any) -> Answer | None:
    token = context.on_wait.set(end_turn)
    try:
        return answer_of(*request)
    finally:
        context.on_wait.reset(token)
