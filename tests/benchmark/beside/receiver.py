"""A merchant's endpoint that costs little: `python -m tests.benchmark.beside.receiver --port PORT`.

It takes every POST, and answers how many different events have come so far.
"""

import asyncio
import re
import sys
from contextlib import suppress

from tests.benchmark.clients.load import HEAD_END, HOST, length_in

EVENT = re.compile(rb"\r\nwebhook-id: (\S+)", re.IGNORECASE)


async def main(port: int) -> None:
    """Serve until SIGTERM."""
    seen: set[bytes] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(HEAD_END)
                if event := EVENT.search(head):
                    await reader.readexactly(length_in(head))
                    seen.add(event[1])
                count = b"%d" % len(seen)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d" % len(count) + HEAD_END + count)
        writer.close()

    async with await asyncio.start_server(answer, HOST, port, reuse_port=True) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[-1])))
