"""The threads that run the WSGI application, each with a whole request."""

import asyncio
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from threading import Lock
from typing import Any, NamedTuple
from wsgiref.types import WSGIApplication

from cachetools import LRUCache

from payments import context
from payments.api.access.authentication import MERCHANT_OF_REQUEST, caller_of
from payments.api.responses.error_forms import is_for_assistants
from payments.api.views.feeds import WAIT, Wait
from payments.concurrency.connections import release_connection
from payments.concurrency.fair_queue import FairQueue, Share, Slots, Turn
from payments.concurrency.garbage import collect_after_page
from payments.concurrency.host_turns import host_turn
from payments.web.environ import Environ, is_api_path, request_of
from payments.web.known_browsers import known_by
from payments.web.limited_pages import LimitedPages, limited_route
from payments.web.refusals import RequestRefused, too_many_requests
from payments.web.responses import Answer, Client, Pieces, Receive, Send, answer_of

MOST_KEYS = 10_000
OFFICE, MERCHANTS = "/admin/", "/merchant/"
# A page keeps the interpreter for as long as many requests of the API, so few are made at once. While those that pause
# have their three turns, payers and operators still have the rest.
PAGES_AT_ONCE = 6
PAGES_OF_A_KIND = 2
# One caller has the fourth part of the turns: with 2 of 8, it makes a tenth more charges a second than with 4, and
# delays those of others half as much, because its threads do not wait for each other's interpreter.
PART_OF_ONE = 4
POLL_SECONDS = 0.5
# However many requests wait, a process looks no more often than this, by one thread with one connection.
POLLS_A_SECOND = 50


class Callers:
    """Finds the merchant of a request by a secret or restricted key, or a session, that has worked in this process."""

    def __init__(self) -> None:
        self._merchants: LRUCache[str, Hashable] = LRUCache(MOST_KEYS)
        self._lock = Lock()

    def caller_of(self, environ: Environ) -> tuple[Hashable, bool]:
        """Return the merchant of a known key or session, else the known browser or the address; and if it is known."""
        with self._lock:
            merchant = self._merchants.get(_credentials(environ))
        is_for_people = environ["PATH_INFO"].startswith((OFFICE, MERCHANTS))
        browser = known_by(environ.get("HTTP_COOKIE", "")) if is_for_people and not merchant else None
        known = merchant or browser
        return known or caller_of(request_of(environ)), known is not None

    def learn(self, environ: Environ) -> None:
        """Remember the merchant of a request that was answered."""
        if merchant := environ.get(MERCHANT_OF_REQUEST):
            with self._lock:
                self._merchants[_credentials(environ)] = merchant


def _credentials(environ: Environ) -> str:
    return environ.get("HTTP_AUTHORIZATION") or environ.get("HTTP_COOKIE", "")


class Waits:
    """The requests that wait in the event loop for what may come: they hold no thread and no connection."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="wait")
        self._count = 0
        self._is_ending = asyncio.Event()

    def end(self) -> None:
        """Answer those that wait at once, because the process ends."""
        self._is_ending.set()

    async def answer(self, wait: Wait, empty: Answer | None, client: Client) -> Answer | None:
        """Return the answer of a request that waits: `empty` if nothing comes in time, None if its client leaves."""
        self._count += 1
        ending = asyncio.create_task(self._is_ending.wait())
        try:
            while empty and not client.leaving.done() and not ending.done():
                if content := await self._found(wait):
                    return empty.with_body(content)
                left = wait.give_up_at - time.monotonic()
                if left <= 0:
                    break
                pause = min(left, max(POLL_SECONDS, self._count / POLLS_A_SECOND))
                await asyncio.wait([client.leaving, ending], timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            return None if client.leaving.done() else empty
        finally:
            ending.cancel()
            self._count -= 1
            wait.end()

    async def _found(self, wait: Wait) -> bytes | None:
        return await asyncio.get_running_loop().run_in_executor(self._thread, _find, wait)


def _find(wait: Wait) -> bytes | None:
    try:
        return wait.find()
    finally:
        release_connection()


class Lane(NamedTuple):
    """The places that requests of one kind have, their share of a queue, and how each runs in its thread."""

    places: Slots
    share: Share
    run: Callable[..., Answer | None]


class Threads:
    """A pool of `count` threads, and a room with a place for as many more requests.

    One caller, a merchant or an address, has no more places than are left free, so that a burst of its requests leaves
    some for others. However many addresses ask for pages without being known, half of the room is left to all others:
    strangers at the sign-in are one crowd, payers another. A request that waits for events has left its place.

    At most `running` calls of the API run at the same time, and PAGES_AT_ONCE pages, of which payers, the back office,
    the merchants' own site, its sign-in and assistants, whose calls take as long, have a share each. Of the last three
    one runs at once, with a pause after it: of a merchant, whose people are one caller, or at the sign-in of all. What
    waits for a provider or something else that is slow has given its turn to another. A password is hashed after the
    turn, in a line of its own (`payments.staff.sign_in.passwords`).
    """

    def __init__(self, application: WSGIApplication, count: int, running: int) -> None:
        self._application, self._count = application, count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="request")
        self._submitted = 0
        self._callers, self._limited, self.waits = Callers(), LimitedPages(), Waits()
        self._room = room = Slots(2 * count, 2 * count)
        payers, strangers = (Slots(count, count, within=room) for _ in range(2))
        share = partial(Share, queue=FairQueue(PAGES_AT_ONCE))
        of_kind, alone = min(running, PAGES_OF_A_KIND), partial(share, 1, later=asyncio.get_running_loop().call_later)
        self._api = Lane(room, Share(running, most_of_one=max(1, running // PART_OF_ONE)), _run)
        self._orders = self._api._replace(places=payers)
        self._shown = Lane(payers, share(of_kind), _run_page)
        self._office = Lane(room, share(of_kind), _run_page)
        self._people = Lane(room, alone(), _run_in_turn)
        self._assistants = Lane(room, alone(), _run_in_turn)
        self._strangers = Lane(strangers, alone(leaves_room=False), _run_in_turn)

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
        if refusal := self._limited.answer_to(environ):
            return refusal
        caller, is_known = self._callers.caller_of(environ)
        lane = self._lane_of(environ, is_known)
        if not lane.places.take(caller):
            raise RequestRefused(too_many_requests())
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turn = lane.share.begin(caller, partial(begun.set_result, None))
        try:
            if not turn.has_begun:
                if await client.leaves_before(begun):
                    return None
                if refusal := self._limited.answer_to(environ):
                    return refusal
            return await self._answer_in_thread(lane, turn, environ, client, send)
        finally:
            lane.share.end(turn)
            lane.places.give_back(caller)
            self._callers.learn(environ)
            self._limited.learn(environ)

    def _lane_of(self, environ: Environ, is_known: bool) -> Lane:
        path = environ["PATH_INFO"]
        if is_api_path(path):
            # Strangers at that path, whose keys have not worked here, have no place in the line of those who work.
            return self._assistants if is_known and is_for_assistants(path) else self._api
        if path.startswith(OFFICE):
            return self._office
        if path.startswith(MERCHANTS):
            return self._people if is_known else self._strangers
        if limited_route(path) is None:
            return self._api
        return self._orders if environ["REQUEST_METHOD"] == "POST" else self._shown

    async def _answer_in_thread(
        self, lane: Lane, turn: Turn, environ: Environ, client: Client, send: Send
    ) -> Answer | None:
        loop, may_queue = asyncio.get_running_loop(), self.are_taken
        on_wait = partial(loop.call_soon_threadsafe, lane.share.end, turn)
        self._submitted += 1
        try:
            work = self._pool.submit(lane.run, on_wait, self._application, environ, Pieces(send, client, loop))
            answer = asyncio.wrap_future(work)
            if may_queue and await client.leaves_before(answer) and work.cancel():
                return None
            return await answer
        finally:
            self._submitted -= 1


def _run(on_wait: Callable[[], object], *request: Any) -> Answer | None:
    token = context.on_wait.set(on_wait)
    try:
        return answer_of(*request)
    finally:
        context.on_wait.reset(token)


def _run_page(*arguments: Any) -> Answer | None:
    try:
        return _run(*arguments)
    finally:
        collect_after_page()


def _run_in_turn(on_wait: Callable[[], object], *request: Any) -> Answer | None:
    with ExitStack() as turn:
        turn.enter_context(host_turn())

        def give_back() -> None:
            turn.close()
            on_wait()

        return _run_page(give_back, *request)
