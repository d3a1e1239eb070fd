"""HTTP to the providers: requests that have a limit in all, and a word on whether they may have arrived.

One event loop in a thread of its own serves every thread of the process, because a limit for a whole call, whose
answer may come a byte at a time, is what blocking clients do not have. Connections are kept and used again.
"""

import asyncio
import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from payments import context
from payments.concurrency.connections import release_connection
from payments.providers import hosts

logger = logging.getLogger("kaha.provider")

CONNECT_SECONDS = 3.0
TOTAL_SECONDS = 30.0
MAX_ANSWER_BYTES = 1024 * 1024


class Unsent(Exception):
    """There was never a connection, so nothing can have arrived."""


class ForeignHost(Unsent):
    """The address is not the provider's. Nothing was sent."""


class Unanswered(Exception):
    """It may have arrived, and there is no whole answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider answered; header names without regard to case."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: a text, or with a `filename` a file. Its content is in no repr, because it may be personal."""

    name: str
    content: bytes = field(repr=False)
    content_type: str
    filename: str = ""


# Method, address, headers, body: how `send` and a line of one's own are asked.
Send = Callable[[str, str, Mapping[str, str], bytes | None], Reply]


class Connections:
    """The process's connections to providers, made when the first one is wanted."""

    def __init__(self, total_seconds: float = TOTAL_SECONDS) -> None:
        self._total_seconds = total_seconds
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session: aiohttp.ClientSession | None = None

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """Return the answer, read whole. Raise Unsent or Unanswered."""
        context.begin_wait()
        release_connection()
        return asyncio.run_coroutine_threadsafe(self._send(method, url, headers, body), self._running()).result()

    def close(self) -> None:
        """Close the connections; a process does so when it ends."""
        if self._loop and self._session:
            asyncio.run_coroutine_threadsafe(self._session.close(), self._loop).result()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="providers", daemon=True).start()
            return self._loop

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        try:
            async with self._opened().request(
                method, url, headers=headers, data=body, allow_redirects=False
            ) as response:
                return Reply(response.status, response.headers, await _read(response))
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise Unsent(type(error).__name__) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unanswered(type(error).__name__) from None

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self._total_seconds, connect=CONNECT_SECONDS),
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


async def _read(response: aiohttp.ClientResponse) -> bytes:
    content = b""
    async for chunk in response.content.iter_chunked(64 * 1024):
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            raise aiohttp.ClientPayloadError("too long")
    return content


_line = Connections()
_parents: list[Connections] = []


def _forget_line() -> None:
    global _line  # neither its thread nor its connections are a child's
    # Kept, because a child that closes them has the kernel stop to report on the parent's, with whom it shares epoll.
    _parents.append(_line)
    _line = Connections()


os.register_at_fork(after_in_child=_forget_line)
atexit.register(lambda: _line.close())


def send(method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Reply:
    """Asks a provider, at most TOTAL_SECONDS long, and logs that it did: method, host, path and status, no more.

    Raises Unsent where nothing can have arrived, Unanswered where it may have.
    """
    started, status = time.monotonic(), 0
    try:
        reply = _line.send(method, url, headers, body)
        status = reply.status
        return reply
    finally:
        place = urlsplit(url)
        facts = {"method": method, "host": place.hostname, "path": place.path, "status": status}
        logger.info("provider asked", extra=facts | {"milliseconds": round((time.monotonic() - started) * 1000)})


def form(fields: Sequence[Field]) -> tuple[str, bytes]:
    """Return the content type and the body of a form with these fields. Called by threads without an event loop."""
    with aiohttp.MultipartWriter("form-data") as writer:
        for each in fields:
            part = writer.append(each.content, {"Content-Type": each.content_type})
            named: dict[str, Any] = {"name": each.name} | ({"filename": each.filename} if each.filename else {})
            part.set_content_disposition("form-data", **named)
    return writer.content_type, asyncio.run(writer.as_bytes())


def restrict(send: Send, domains: Collection[str], base_url: str = "") -> Send:
    """Return `send` for one provider: it raises ForeignHost, before a byte is sent, for hosts outside of `domains`.

    A `base_url` on loopback, which only the settings of the host can name, is allowed as well.
    """
    local = base_url if hosts.is_loopback_address(base_url) else None

    def send_to_provider(method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Reply:
        is_local = local is not None and url.startswith(f"{local}/") and hosts.is_loopback_address(url)
        if not (is_local or hosts.is_provider_address(url, domains)):
            raise ForeignHost("the address is not the provider's")
        return send(method, url, headers, body)

    return send_to_provider
