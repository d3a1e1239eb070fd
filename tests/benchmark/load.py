"""The load, over connections that stay open: `python -m tests.benchmark.load JOB ANSWERS`, which are files.

It speaks no more HTTP than our server's answers need, for it shares the cores with the server.
What the files hold is in `tests.benchmark.client`.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]+)", re.IGNORECASE)
# The first one in an answer is that of the object that was asked for.
ID = re.compile(rb'"id": ?"([a-z]+_[0-9a-f]{32})"')
STATUS = slice(9, 12)
SUCCESS = {b"200", b"201"}
# Where the ID stands: an answer is searched only when the load is over.
BEGINNING_BYTES = 128


def length_in(head: bytes) -> int:
    """Return how long the body after this head is. Raises ValueError where the head does not say so."""
    length = LENGTH.search(head)
    if length is None:
        raise ValueError(f"an answer does not say how long it is: {head!r}")
    return int(length[1])


class Run:
    """Requests on their way out, and what has come back: how long each took, and how each answer begins."""

    def __init__(self, job: dict[str, Any]) -> None:
        requests = [text.encode() for text in job["requests"]]
        self._requests: Iterator[bytes] = cycle(requests) if job["again"] else iter(requests)
        self._job = job
        self._latencies_seconds: list[float] = []
        self._beginnings: list[bytes] = []
        self._sample = self._refused = b""

    async def send_all(self) -> dict[str, Any]:
        """Send over all connections, until time or requests are over or one was refused; return the answers."""
        count = self._job["connections"]
        opened = [await asyncio.open_connection(HOST, self._job["port"]) for _ in range(count)]
        started_at = time.perf_counter()
        ends_at = started_at + self._job["seconds"]
        spread = self._job["spread_seconds"] / count
        await asyncio.gather(*(self._send(*one, spread * number, ends_at) for number, one in enumerate(opened)))
        return {
            "seconds": time.perf_counter() - started_at,
            "latencies_seconds": self._latencies_seconds,
            "ids": [match[1].decode() for match in map(ID.search, self._beginnings) if match],
            "sample": self._sample.decode(),
            "refused": self._refused.decode(),
        }

    async def _send(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, after_seconds: float, ends_at: float
    ) -> None:
        """Send one request after the other over a connection, each as soon as the one before is answered."""
        if after_seconds:
            await asyncio.sleep(after_seconds)
        while not self._refused and (sent_at := time.perf_counter()) < ends_at:
            request = next(self._requests, None)
            if request is None:
                break
            writer.write(request)
            head = await reader.readuntil(HEAD_END)
            body = await reader.readexactly(length_in(head))
            if head[STATUS] not in SUCCESS:
                self._refused = head[STATUS] + b" " + body
                break
            self._latencies_seconds.append(time.perf_counter() - sent_at)
            self._beginnings.append(body[:BEGINNING_BYTES])
            self._sample = body
            if self._job["pause_seconds"]:
                await asyncio.sleep(self._job["pause_seconds"])
        writer.close()


if __name__ == "__main__":
    job_file, answers_file = map(Path, sys.argv[1:])
    answers_file.write_text(json.dumps(asyncio.run(Run(json.loads(job_file.read_text())).send_all())))
