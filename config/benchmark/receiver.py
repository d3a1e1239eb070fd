"""A merchant's endpoint that costs little: `python -m config.benchmark.receiver PORT`.

It takes whatever is posted, and tells by GET how many different events that were.
"""

import asyncio
import re
import sys

from config.benchmark.load import HEAD_END, length_in
from payments.quickstart.ports import HOST

EVENT = re.compile(rb"\r\nwebhook-id: (\S+)", re.IGNORECASE)


class Connection(asyncio.Protocol):
    """Answers one request after the other; `seen` are the IDs of all events so far."""

    def __init__(self, seen: set[bytes]) -> None:
        self._seen = seen
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)  # nosec B101 # for the type checker
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(HEAD_END)
        event = EVENT.search(head)
        if end and (not event or len(body) == length_in(head)):
            self._received = b""
            if event:
                self._seen.add(event[1])
            self._answer(b"%d" % len(self._seen))

    def _answer(self, body: bytes) -> None:
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d" % len(body) + HEAD_END + body)


async def main(port: int) -> None:
    """Serve until SIGTERM."""
    seen: set[bytes] = set()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(seen), HOST, port, reuse_port=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
