"""A relay between a program and a server, which counts the bytes that both send."""

import asyncio
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.support.processes import running_module

HOST = "127.0.0.1"
CHUNK_BYTES = 1 << 16


class Relay:
    """Passes on what comes to it to `target`, a port of loopback or the path of a socket, and back."""

    def __init__(self, target: str) -> None:
        self._target = target
        self.bytes = 0

    async def serve(self, host: str, port: int) -> None:
        """Print the port, and then the bytes so far for each line on standard input."""
        server = await asyncio.start_server(self.connect, host, port, backlog=1000)
        print(server.sockets[0].getsockname()[1], flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(self.bytes, flush=True)

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect a client with the target until either hangs up."""
        is_port = self._target.isdigit()
        connect = (
            asyncio.open_connection(HOST, int(self._target)) if is_port else asyncio.open_unix_connection(self._target)
        )
        server_reader, server_writer = await connect
        await asyncio.gather(self._pass(reader, server_writer), self._pass(server_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(CHUNK_BYTES):
                self.bytes += len(data)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


@contextmanager
def over_tls(target: int, context: ssl.SSLContext) -> Iterator[int]:
    """Yield a port of loopback that ends TLS before a port that has none."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    begun = asyncio.start_server(Relay(str(target)).connect, HOST, 0, ssl=context)
    server = asyncio.run_coroutine_threadsafe(begun, loop).result()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


class RelayProcess:
    """A relay in a process of its own, on a port of loopback that stays the same."""

    def __init__(self, target: int | str) -> None:
        self._target, self.port, self._running = target, 0, ExitStack()
        self.restore()

    def restore(self) -> None:
        """Accept connections."""
        command = running_module("tests.support.relay", self._target, HOST, self.port)
        self._program = self._running.enter_context(command)
        self.port = int(self._program.output)

    def cut(self) -> None:
        """End every connection and refuse new ones."""
        self._running.close()

    def bytes(self) -> int:
        """Return the bytes that were passed on so far, both ways."""
        return int(self._program.ask())


@contextmanager
def relay_process(target: int | str) -> Iterator[RelayProcess]:
    """Yield a relay to a port of loopback or to the path of a socket."""
    relay = RelayProcess(target)
    try:
        yield relay
    finally:
        relay.cut()


if __name__ == "__main__":
    asyncio.run(Relay(sys.argv[1]).serve(sys.argv[2], int(sys.argv[3])))
