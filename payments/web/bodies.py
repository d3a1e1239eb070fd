"""Request bodies, read whole before a thread is taken, with a deadline and a limit on late ones."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from concurrent.futures import Executor
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.admin.sites import all_sites
from django.contrib.auth import get_user
from django.db import Error, connection
from django.http import parse_cookie
from django.urls import Resolver404, resolve
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from payments.api.access.authentication import KeyAuthentication
from payments.api.access.exception_handler import rate_limit_anonymous
from payments.api.access.throttling import counted_address
from payments.api.responses.errors import ApiError, as_api_error, invalid_json, rate_limited, refused
from payments.api.validation.parsers import MAX_FILE_BODY_BYTES
from payments.concurrency.fair_queue import Slots
from payments.concurrency.long_bodies import LONG_FORM, BodyLimits, LongForm, Uploads
from payments.domain.catalogue.error_table import REQUEST_TIMEOUT
from payments.domain.disputes.verbs import ADD_EVIDENCE
from payments.models import ApiKey
from payments.web.environ import Environ, has_body, is_api_path, request_of, stated_length
from payments.web.refusals import RequestRefused, too_many_bodies
from payments.web.responses import Receive

# A body usually comes with its headers; one that takes longer counts as late.
PROMPT_SECONDS = 0.05
# The most late bodies in one process, and from one address.
MOST_LATE = 500
MOST_LATE_BY_ADDRESS = 50
# Whether a part of a request's body was not read; and how much of it is dropped: the longest that proxies let through.
REST_COMES = "kaha.rest_comes"
MOST_DROPPED_BYTES = 17 * 1024 * 1024
PAUSE_SECONDS = 0.5

EVIDENCE = Uploads(BodyLimits(MAX_FILE_BODY_BYTES, 30), most=12)
EVIDENCE_PATH = re.compile(r"/v2/disputes/[^/]+/evidence/?")


class Body:
    """The body of one request while it is read.

    A refusal cancels the task that reads. Reading never continues after that, because a chunk may be lost.
    """

    def __init__(self, environ: Environ, limits: BodyLimits, late: Slots, lookups: Executor) -> None:
        self._environ, self._limits, self._late, self._lookups = environ, limits, late, lookups
        self._loop = asyncio.get_running_loop()
        self._address: str | None = None
        self._lookup: asyncio.Task[None] | None = None
        self._refusal: ApiError | None = None

    async def read(self, receive: Receive) -> bytes:
        """Return the body, at most one byte longer than allowed; raise Refused if it is too slow or incomplete."""
        self._reader = asyncio.current_task()
        self._timer = self._loop.call_later(PROMPT_SECONDS, self._become_late)
        try:
            return await self._whole(receive)
        except asyncio.CancelledError:
            if self._refusal is None or self._reader is None:
                raise
            self._reader.uncancel()
            raise RequestRefused(self._refusal) from None
        finally:
            self._timer.cancel()
            if self._lookup:
                self._lookup.cancel()
            if self._address is not None:
                self._late.give_back(self._address)

    async def _whole(self, receive: Receive) -> bytes:
        body, stated = bytearray(), stated_length(self._environ)
        while self._environ[REST_COMES] and len(body) <= self._limits.length_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestRefused(invalid_json("The body broke off."))
            body += message.get("body", b"")
            self._environ[REST_COMES] = bool(message.get("more_body")) and len(body) != stated
        return bytes(body)

    def _become_late(self) -> None:
        address = counted_address(request_of(self._environ))
        if not self._late.take(address):
            self._refuse(too_many_bodies() if self._late.taken == self._late.in_all else rate_limited(1))
            return
        self._address = address
        deadline_seconds = self._limits.deadline_seconds
        late = refused(REQUEST_TIMEOUT, seconds=deadline_seconds)
        self._timer = self._loop.call_later(deadline_seconds, self._refuse, late)
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


def key_error(environ: Environ) -> ApiError | None:
    """Return the error of the key, or None if it works; the API authenticates the whole request again later.

    It queries the database and Redis, so call it in a thread.
    """
    request = request_of(environ)
    try:
        KeyAuthentication().authenticate(Request(request))
    except APIException as error:
        return rate_limit_anonymous(request, as_api_error(error))
    except Error as error:
        return as_api_error(error)
    finally:
        connection.close()
    return None


class LongBodies:
    """The long bodies that a process is reading, and whether one may be sent: decided before a byte of it is read."""

    def __init__(self, lookups: Executor) -> None:
        self._lookups = lookups
        self._slots: dict[Uploads | LongForm, Slots] = {}

    @asynccontextmanager
    async def place(self, environ: Environ) -> AsyncIterator[BodyLimits | None]:
        """Hold a place while the block runs; yield its limits, None for what may not be sent. Raise Refused."""
        kind, sender_of = self._kind(environ) if environ["REQUEST_METHOD"] == "POST" else (None, merchant_who_may)
        uploads = kind.uploads if isinstance(kind, LongForm) else kind
        if kind is None or uploads is None or stated_length(environ) > uploads.limits.length_bytes:
            yield None
            return
        sender = await asyncio.get_running_loop().run_in_executor(self._lookups, sender_of, environ)
        if sender is None:
            yield None
            return
        slots = self._slots.setdefault(kind, Slots(1, uploads.most))
        with slots.slot(sender, lambda: RequestRefused(too_many_bodies())):
            yield uploads.limits

    def _kind(self, environ: Environ) -> tuple[Uploads | LongForm | None, Callable[[Environ], Hashable | None]]:
        path = environ["PATH_INFO"]
        sites: Iterable[Any] = all_sites
        for site in sites:
            if path.startswith(site.prefix) and (form := _long_form_at(path, site)):
                return form, partial(person_who_may, site, form)
        return (EVIDENCE if EVIDENCE_PATH.fullmatch(path) else None), merchant_who_may


def _long_form_at(path: str, site: Any) -> LongForm | None:
    """Return what the page at `path` takes, as it says itself; None for a page without files."""
    try:
        return getattr(resolve(path, site.urlconf).func, LONG_FORM, None)
    except Resolver404:
        return None


def merchant_who_may(environ: Environ) -> Hashable | None:
    """Return the merchant of a key that may add evidence; the API authenticates the whole request again later.

    It queries the database and Redis, so call it in a thread.
    """
    try:
        found = KeyAuthentication().authenticate(Request(request_of(environ)))
    except (APIException, Error):
        return None
    finally:
        connection.close()
    merchant, key = found
    return merchant.id if key.kind == ApiKey.Kind.SECRET or ADD_EVIDENCE.right in key.rights else None


def person_who_may(site: Any, form: LongForm, environ: Environ) -> Hashable | None:
    """Return who holds a place on `site` for the person of the session, if they may send a form; its page checks again.

    It queries the database, so call it in a thread.
    """
    request = request_of(environ)
    cookie = parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME)
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(cookie)
    try:
        request.user = get_user(request)
        may = site.has_permission(request) and request.user.has_perm(form.permission)
        return site.holder_of(request) if may else None
    except Error:
        return None
    finally:
        connection.close()


class Bodies:
    """The reader of all request bodies of a process."""

    def __init__(self, limits: BodyLimits, lookups: Executor) -> None:
        self._limits, self._lookups = limits, lookups
        self._late, self._dropped = (Slots(MOST_LATE_BY_ADDRESS, MOST_LATE) for _ in range(2))
        self._long = LongBodies(lookups)

    async def read(self, environ: Environ, receive: Receive) -> bytes | None:
        """Return the body, or None if there is none or Content-Length is too long; raise Refused."""
        environ[REST_COMES] = has_body(environ)
        if not environ[REST_COMES]:
            return None
        if stated_length(environ) > self._limits.length_bytes:
            async with self._long.place(environ) as limits:
                return await Body(environ, limits, self._late, self._lookups).read(receive) if limits else None
        return await Body(environ, self._limits, self._late, self._lookups).read(receive)

    async def drop_rest(self, environ: Environ, receive: Receive) -> None:
        """Read and drop what comes of a body that is not wanted, as long as it comes without a pause.

        A client that still sends may never see its answer: the server closes the connection after one that it gives
        early (RFC 9112, section 9.6). One that waits for the answer, as `Expect: 100-continue` says, has it at once.
        """
        if stated_length(environ) > MOST_DROPPED_BYTES or "HTTP_EXPECT" in environ:
            return
        address = counted_address(request_of(environ))
        if self._dropped.take(address):
            try:
                await self._drop(receive)
            finally:
                self._dropped.give_back(address)

    async def _drop(self, receive: Receive) -> None:
        read, comes, until = 0, True, time.monotonic() + self._limits.deadline_seconds
        with suppress(TimeoutError):
            while comes and read <= MOST_DROPPED_BYTES and time.monotonic() < until:
                message = await asyncio.wait_for(receive(), PAUSE_SECONDS)
                read += len(message.get("body", b""))
                comes = message.get("more_body", False)
