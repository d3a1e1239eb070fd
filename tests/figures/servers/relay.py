"""A relay between a program and a server, which counts the bytes that both send."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

HOST = "127.0.0.1"
CHUNK_BYTES = 1 << 16


class Relay:
    """Passes on what comes to its port to `target`, a port of loopback or the path of a socket, and back."""

    def __init__(self, target: str) -> None:
        self._target = target
        self.bytes = 0

    async def serve(self) -> None:
        """Print the port, and then the bytes so far for each line on standard input."""
        server = await asyncio.start_server(self._connect, HOST, 0, backlog=1000)
        print(server.sockets[0].getsockname()[1], flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(self.bytes, flush=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
        except ConnectionError:
            pass
        finally:
            writer.close()


class RunningRelay:
    """A relay in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.port = self._line()

    def bytes(self) -> int:
        """Return the bytes that were passed on so far, both ways."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> int:
        assert self._process.stdout
        return int(self._process.stdout.readline())


@contextmanager
def relay_process(target: int | str) -> Iterator[RunningRelay]:
    """Yield a relay to a port of loopback or to the path of a socket."""
    command = [sys.executable, "-m", "tests.figures.servers.relay", str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield RunningRelay(process)
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(Relay(sys.argv[1]).serve())
