"""Responses of a WSGI application, sent by ASGI."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from wsgiref.types import WSGIApplication
from wsgiref.util import FileWrapper

from payments import context
from payments.web.environ import Environ

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Headers = list[tuple[bytes, bytes]]

# How long a client may take over one chunk of a streamed response, which occupies a thread.
PIECE_SECONDS = 30


class ClientLeft(Exception):
    """The client has disconnected or does not read."""


@dataclass(slots=True)
class Answer:
    """A response to be sent whole: its body, or the path of the file that is its body."""

    status: int = 0
    headers: Headers = field(default_factory=list)
    body: bytes = b""
    path: str | None = None

    async def send(self, send: Send) -> None:
        """Send the whole response."""
        await send(self.start)
        if self.path is None:
            await send({"type": "http.response.body", "body": self.body})
        else:
            await send({"type": "http.response.pathsend", "path": self.path})

    def with_body(self, body: bytes) -> "Answer":
        """Return this answer with another body."""
        others = [header for header in self.headers if header[0].lower() != b"content-length"]
        return Answer(self.status, [*others, (b"Content-Length", str(len(body)).encode())], body)

    @property
    def start(self) -> dict[str, Any]:
        """The ASGI message that starts the response."""
        return {"type": "http.response.start", "status": self.status, "headers": self.headers}

    def start_response(self, status: str, headers: Iterable[tuple[str, str]], _: Any = None) -> Callable[[bytes], None]:
        """Set status and headers: WSGI's `start_response`."""
        self.status = int(status[:3])
        self.headers = encoded(headers)
        return self._write

    def _write(self, _: bytes) -> None:
        raise NotImplementedError("Return the body of the response.")


def encoded(headers: Iterable[tuple[str, str]]) -> Headers:
    """Return the headers in ASGI's form."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def answer_of(application: WSGIApplication, environ: Environ, pieces: "Pieces") -> Answer | None:
    """Run the application; return its response, or None if it was streamed and sent already."""
    answer = Answer()
    result = application(environ, answer.start_response)
    try:
        answer.path = _whole_file(result)
        if answer.path is not None:
            return answer
        rest = iter(result)
        answer.body = next(rest, b"")
        second = next(rest, None)
        if second is None:
            return answer
        pieces.send(answer.start)
        for piece in chain((answer.body, second), rest):
            pieces.send({"type": "http.response.body", "body": piece, "more_body": True})
        pieces.send({"type": "http.response.body", "body": b""})
    except ClientLeft:
        pass
    finally:
        if close := getattr(result, "close", None):
            close()
    return None


def _whole_file(result: object) -> str | None:
    """Return the path if the response is a file, which the server sends without one of our threads."""
    path = getattr(result.filelike, "name", None) if isinstance(result, FileWrapper) else None
    return os.fspath(path) if isinstance(path, str | os.PathLike) else None


class Client:
    """The client of one request. One task waits for its disconnect, because granian ends a second wait at once."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._leaving: asyncio.Task[None] | None = None

    @property
    def leaving(self) -> "asyncio.Task[None]":
        """The task that is done when the client has disconnected."""
        self._leaving = self._leaving or asyncio.create_task(self._wait())
        return self._leaving

    async def leaves_before(self, done: "asyncio.Future[Any]") -> bool:
        """Wait until one of them ends; return whether that is the client's connection."""
        await asyncio.wait([done, self.leaving], return_when=asyncio.FIRST_COMPLETED)
        return not done.done()

    def stop_watching(self) -> None:
        """End the task."""
        if self._leaving:
            self._leaving.cancel()

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


class Pieces:
    """Streams a response from a thread, which waits until the client has taken each chunk.

    granian accepts chunks for a disconnected client too, so this watches for the disconnect.
    """

    def __init__(self, send: Send, client: Client, loop: asyncio.AbstractEventLoop) -> None:
        self._send, self._client, self._loop = send, client, loop

    def send(self, message: dict[str, Any]) -> None:
        """Send one message; raise ClientLeft if the client has gone or takes too long."""
        context.begin_wait()
        asyncio.run_coroutine_threadsafe(self._sent(message), self._loop).result()

    async def _sent(self, message: dict[str, Any]) -> None:
        if self._client.leaving.done():
            raise ClientLeft
        try:
            async with asyncio.timeout(PIECE_SECONDS):
                await self._send(message)
        except TimeoutError:
            raise ClientLeft from None
