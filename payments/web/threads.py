"""The threads that run the WSGI application, each with a whole request."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from wsgiref.types import WSGIApplication

from payments import context
from payments.domain.bulkheads import Places
from payments.web.answers import Answer, Pieces, Receive, Send, answer_of, leaving
from payments.web.callers import Callers
from payments.web.environ import Environ
from payments.web.refusals import Refused, too_many_requests
from payments.web.turns import Turns


class Threads:
    """At most `count` requests are worked on at the same time, and as many more wait for a thread.

    Of these `running` at most run; the others wait for a provider or for something else that is slow. One caller,
    which is a merchant or an address, holds no more of all this room than is left free, so that a burst of its
    requests leaves room for those of others.
    """

    def __init__(self, application: WSGIApplication, count: int, running: int) -> None:
        self._application, self._count = application, count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="request")
        self._begun = 0
        self._room = Places(2 * count, 2 * count)
        self._callers, self._turns = Callers(), Turns(running)

    @property
    def are_taken(self) -> bool:
        """Whether the next request has to wait."""
        return self._begun >= self._count

    async def answer(self, environ: Environ, receive: Receive, send: Send) -> Answer | None:
        """Has a thread answer a request. Returns what is to be sent, if anything is still.

        Raises Refused where there is no room to wait either. A client that leaves while its request waits gives its
        place to others.
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
        turn, loop, may_wait = self._turns.begin(caller), asyncio.get_running_loop(), self.are_taken
        try:
            if not turn.begun.done() and await _client_leaves_before(turn.begun, receive):
                return None
            pieces = Pieces(send, receive, loop)
            end_turn = partial(loop.call_soon_threadsafe, turn.end)
            work = self._pool.submit(_run, end_turn, self._application, environ, pieces)
            answer = asyncio.wrap_future(work)
            if may_wait and await _client_leaves_before(answer, receive) and work.cancel():
                return None
            return await answer
        finally:
            turn.end()


def _run(end_turn: Callable[[], object], *request: Any) -> Answer | None:
    token = context.on_wait.set(end_turn)
    try:
        return answer_of(*request)
    finally:
        context.on_wait.reset(token)


async def _client_leaves_before(done: "asyncio.Future[Any]", receive: Receive) -> bool:
    left = asyncio.create_task(leaving(receive))
    await asyncio.wait([done, left], return_when=asyncio.FIRST_COMPLETED)
    left.cancel()
    return not done.done()
