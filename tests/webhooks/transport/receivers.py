"""Receivers of callbacks, good and bad: real servers on sockets of this machine, and one client to call them."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from payments.webhooks.transport.client import Limits, Transport
from payments.webhooks.transport.name_lookup import Resolver
from payments.webhooks.transport.results import Answer, Failure

BODY = b'{"id": "evt_1"}'
HEADERS = {"webhook-id": "evt_1"}
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PATIENT = Limits()
# For tries that come to their limit.
SHORT = Limits(connect_seconds=0.3, total_seconds=0.6)

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Request:
    """One request as it came over the wire; header names in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """A server that notes who connects (`sockets`: the address they called), and what is asked of it."""

    answer: bytes | Behaviour
    port: int = 0
    sockets: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sockets.append(writer.get_extra_info("sockname")[0].removeprefix("::ffff:"))
        try:
            while True:
                self.requests.append(await read_request(reader))
                await self._answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # they hung up, or the test is over
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if callable(self.answer):
            await self.answer(reader, writer)
        else:
            writer.write(self.answer)
            await writer.drain()


async def read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    headers = {name.lower(): value for name, _, value in (text.partition(": ") for text in lines)}
    return Request(line, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


@asynccontextmanager
async def receiver(
    answer: bytes | Behaviour = OK, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    """Run a receiver on `host` while the block runs; "" means every address."""
    made = Receiver(answer)
    listening = socket.create_server((host, 0)) if host else _listener_everywhere()
    server = await asyncio.start_server(made.handle, sock=listening, ssl=tls)
    made.port = listening.getsockname()[1]
    try:
        yield made
    finally:
        server.close()


def _listener_everywhere() -> socket.socket:
    if not socket.has_dualstack_ipv6():
        return socket.create_server(("", 0))
    return socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)


def then_close(answer: bytes) -> Behaviour:
    """Answers with these bytes and hangs up."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()
        raise ConnectionResetError

    return behave


def then_hang(answer: bytes = b"") -> Behaviour:
    """Answers with these bytes, and then waits for the other side to give up."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await reader.read()

    return behave


def drip(answer: bytes, again: bytes, seconds: float = 0.02) -> Behaviour:
    """Answers with these bytes, and then with `again` every few milliseconds, for ever."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        while True:
            await writer.drain()
            await asyncio.sleep(seconds)
            writer.write(again)

    return behave


def always(*addresses: str) -> Resolver:
    """Return a resolver that answers every name with these addresses."""

    async def resolve(name: str) -> list[str]:
        return list(addresses)

    return resolve


async def send(
    url: str,
    *,
    livemode: bool = False,
    resolve: Resolver | None = None,
    tls: ssl.SSLContext | None = None,
    limits: Limits = PATIENT,
) -> Answer | Failure:
    """One try, by a transport of its own."""
    async with Transport(resolve, tls, limits) as transport:
        return await transport.send(url, BODY, HEADERS, livemode)


def announced(answer: bytes | Behaviour, limits: Limits = PATIENT) -> tuple[Answer | Failure, Receiver]:
    """Return the result of one attempt to a receiver that answers so, and the receiver."""

    async def try_it() -> tuple[Answer | Failure, Receiver]:
        async with receiver(answer) as shop:
            return await send(shop.url, limits=limits), shop

    return asyncio.run(try_it())


def answered(answer: bytes | Behaviour) -> Answer:
    """Return the answer that such a receiver gives."""
    result, _ = announced(answer)
    assert isinstance(result, Answer)
    return result


def response(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    """Return an HTTP response as it goes over the wire."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *lines, "", ""]
    return "\r\n".join(head).encode() + body


HEAD = b"HTTP/1.1 200 OK\r\n"
# Answers that take an event, whatever follows their status.
BELIEVED = {
    "a long line": HEAD + b"Content-Security-Policy: " + b"x" * 9_000 + b"\r\nContent-Length: 2\r\n\r\nok",
    "a long reason": b"HTTP/1.1 200 " + b"x" * 9_000 + b"\r\n\r\n",
    "a huge line": HEAD + b"X: " + b"x" * 100_000,
    "countless lines": HEAD + b"X: x\r\n" * 100_000,
    "equal lengths": HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "two lengths": HEAD + b"Content-Length: 1, 2\r\n\r\n",
    "a cut chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhe",
    "a bad chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a cut body": HEAD + b"Content-Length: 20\r\n\r\no",
    "a cut head": HEAD + b"Content-",
    "no head": HEAD,
    "interim answers before": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    + HEAD
    + b"Content-",
}
