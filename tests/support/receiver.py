"""A merchant's endpoint that costs little: what it answers is up to a function, and it notes every call."""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.support.processes import running_module

HEAD_END = b"\r\n\r\n"
# What an endpoint answers: a status, a status with headers, or nothing ever.
Reply = int | tuple[int, dict[str, str]] | None


@dataclass(frozen=True, slots=True)
class Call:
    """One request: header names in lower case, and when it was there by `time.monotonic()`."""

    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


@dataclass
class Receiver:
    """Listens on a port of loopback from a thread of its own, for as long as the `with` block runs."""

    reply: Callable[[Call], Reply] = lambda call: 200
    delay_seconds: float = 0
    port: int = 0
    calls: list[Call] = field(default_factory=list)
    connections: set[asyncio.WriteTransport] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def event_ids(self) -> list[str]:
        """Return the event IDs of all calls so far, in their order."""
        return [call.event_id for call in self.calls]

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        server = self._loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port, backlog=1000)
        self._server = self._loop.run_until_complete(server)
        self.port = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def hang_up(self) -> None:
        """End every connection."""
        for connection in list(self.connections):
            self._loop.call_soon_threadsafe(connection.abort)

    def take(self, head: bytes, body: bytes) -> bytes | None:
        """Return the bytes to answer a request with, or None for no answer."""
        lines = head.decode("latin-1").split("\r\n")[1:]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        call = Call(headers, body, time.monotonic())
        self.calls.append(call)
        reply = self.reply(call)
        return None if reply is None else _response(*(reply if isinstance(reply, tuple) else (reply, {})))


class _Connection(asyncio.Protocol):
    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._receiver.connections.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._receiver.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, rest = self._received.partition(HEAD_END)
        if not end:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(rest) < length:
            return
        self._received = rest[length:]
        response = self._receiver.take(head, rest[:length])
        if response is not None:
            asyncio.get_running_loop().call_later(self._receiver.delay_seconds, self._transport.write, response)


def _response(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} OK", "Content-Length: 2", *(f"{name}: {text}" for name, text in headers.items())]
    return "\r\n".join(lines).encode() + HEAD_END + b"ok"


@contextmanager
def receiver_process() -> Iterator[str]:
    """Yield the URL of a receiver that does not share our interpreter's lock."""
    with running_module("tests.support.receiver") as program:
        yield program.output.strip()


def main() -> None:
    """Say the URL, then, for each line that comes, how many different events have come so far."""
    seen: set[str] = set()

    def note(call: Call) -> int:
        seen.add(call.event_id)
        running.calls.clear()
        return 200

    with Receiver(note) as running:
        print(running.url, flush=True)
        for _ in sys.stdin:
            print(len(seen), flush=True)


if __name__ == "__main__":
    main()
