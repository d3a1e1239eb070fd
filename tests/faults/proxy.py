"""A TCP proxy before a provider that cuts connections: one port for each way in which a network fails."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from multiprocessing.connection import Connection

from tests.faults.processes import forked, listener, port_of

HEAD_END = b"\r\n\r\n"
FINISH_SECONDS = 20


class Cut(StrEnum):
    """The fate of a request and of its answer."""

    REFUSED = "refused"  # no connection is made
    LOST = "lost"  # the request is reset on its way and gets nowhere
    LATE = "late"  # the request gets there when nobody waits for its answer any more
    DROPPED = "dropped"  # it gets there; the connection is closed instead of the answer
    RESET = "reset"  # it gets there; the connection is reset (RST) instead of the answer
    TRUNCATED = "truncated"  # it gets there; half of the answer comes back
    DELAYED = "delayed"  # it gets there; the answer takes longer than anybody waits


# To be found out by waiting.
SLOW = {Cut.LATE, Cut.DELAYED}


class Proxy:
    """The ports of a proxy that runs in a process of its own."""

    def __init__(self, ports: dict[Cut, int], pipe: Connection) -> None:
        self.ports = ports
        self._pipe = pipe

    def wait_for(self, calls: int) -> None:
        """Until so many more connections were finished, with everything that the provider is asked on them."""
        for _ in range(calls):
            assert self._pipe.poll(FINISH_SECONDS), "a connection was never finished"
            self._pipe.recv()


@contextmanager
def proxy(provider_port: int) -> Iterator[Proxy]:
    """Run a proxy before the provider at `provider_port` during the block."""
    with ExitStack() as stack:
        refusing = stack.enter_context(socket.socket())
        # Bound, so that nobody else gets this port, but without anybody who listens.
        refusing.bind(("127.0.0.1", 0))
        listening = {cut: stack.enter_context(listener()) for cut in BEHAVIOURS}
        ports = {Cut.REFUSED: port_of(refusing)} | {cut: port_of(each) for cut, each in listening.items()}
        pipe = stack.enter_context(forked(lambda pipe: asyncio.run(_serve(listening, provider_port, pipe))))
        yield Proxy(ports, pipe)


Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter


async def _serve(listening: dict[Cut, socket.socket], provider_port: int, pipe: Connection) -> None:
    async def forward(request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", provider_port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer

    def handler(cut: Cut) -> Callable[[Reader, Writer], Awaitable[None]]:
        async def handle(reader: Reader, writer: Writer) -> None:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await BEHAVIOURS[cut](await _request(reader), reader, writer, forward)
            writer.close()
            pipe.send(cut)

        return handle

    servers = [await asyncio.start_server(handler(cut), sock=each) for cut, each in listening.items()]
    await asyncio.gather(*(server.serve_forever() for server in servers))


async def _request(reader: Reader) -> bytes:
    head = await reader.readuntil(HEAD_END)
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return head + await reader.readexactly(length)


Forward = Callable[[bytes], Awaitable[bytes]]


async def _lose(request: bytes, reader: Reader, writer: Writer, forward: Forward) -> None:
    _reset(writer)


async def _be_late(request: bytes, reader: Reader, writer: Writer, forward: Forward) -> None:
    await _hung_up(reader)
    await forward(request)


async def _drop(request: bytes, reader: Reader, writer: Writer, forward: Forward) -> None:
    await forward(request)


async def _reset_afterwards(request: bytes, reader: Reader, writer: Writer, forward: Forward) -> None:
    await forward(request)
    _reset(writer)


async def _truncate(request: bytes, reader: Reader, writer: Writer, forward: Forward) -> None:
    answer = await forward(request)
    head, end, body = answer.partition(HEAD_END)
    writer.write(head + end + body[: len(body) // 2])


async def _delay(request: bytes, reader: Reader, writer: Writer, forward: Forward) -> None:
    await forward(request)
    await _hung_up(reader)


async def _hung_up(reader: Reader) -> None:
    """Until the other side gives up."""
    with suppress(ConnectionError):
        await reader.read()


def _reset(writer: Writer) -> None:
    """End the connection by RST, as closing a socket without linger does."""
    connected: socket.socket = writer.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


BEHAVIOURS = {
    Cut.LOST: _lose,
    Cut.LATE: _be_late,
    Cut.DROPPED: _drop,
    Cut.RESET: _reset_afterwards,
    Cut.TRUNCATED: _truncate,
    Cut.DELAYED: _delay,
}
