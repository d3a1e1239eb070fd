"""The threads that run the WSGI application, each with a whole request."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from wsgiref.types import WSGIApplication

from payments.api.throttling import counted_address
from payments.domain.bulkheads import Places
from payments.web.answers import Answer, Pieces, Receive, Send, answer_of, leaving
from payments.web.environ import Environ
from payments.web.refusals import Refused, too_many_requests
from payments.web.requests import request_of


class Threads:
    """At most `count` requests are worked on at the same time, and as many more wait for a thread.

    One caller, which is one key or without any one address, holds no more of this room than is left free, so that a
    burst of its requests leaves room for those of others.
    """

    def __init__(self, application: WSGIApplication, count: int) -> None:
        self._application, self._count = application, count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="request")
        self._begun = 0
        self._room = Places(2 * count, 2 * count)

    @property
    def are_taken(self) -> bool:
        """Whether the next request has to wait."""
        return self._begun >= self._count

    async def answer(self, environ: Environ, receive: Receive, send: Send) -> Answer | None:
        """Has a thread answer a request. Returns what is to be sent, if anything is still.

        Raises Refused where there is no room to wait either. A client that leaves while its request waits gives its
        place to others.
        """
        caller = environ.get("HTTP_AUTHORIZATION") or counted_address(request_of(environ))
        if self._begun >= 2 * self._count or not self._room.take(caller):
            raise Refused(too_many_requests())
        must_wait = self.are_taken
        pieces = Pieces(send, receive, asyncio.get_running_loop())
        self._begun += 1
        try:
            work = self._pool.submit(answer_of, self._application, environ, pieces)
            if must_wait and await _is_given_up(work, receive):
                return None
            return await asyncio.wrap_future(work)
        finally:
            self._begun -= 1
            self._room.give_back(caller)


async def _is_given_up(work: "Future[Answer | None]", receive: Receive) -> bool:
    """Whether the client left before a thread began."""
    left = asyncio.create_task(leaving(receive))
    done: asyncio.Future[Any] = asyncio.wrap_future(work)
    await asyncio.wait([done, left], return_when=asyncio.FIRST_COMPLETED)
    left.cancel()
    return not done.done() and work.cancel()
