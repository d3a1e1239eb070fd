"""The load, over connections that stay open: `python -m tests.benchmark.clients.load JOB ANSWERS`, which are files.

It speaks no more HTTP than our server's answers need, for it shares the cores with the server.
What the files hold is in `tests.benchmark.clients.client`.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]+)", re.IGNORECASE)
# The first one in an answer is that of the object that was asked for. Peers number their objects.
ID = re.compile(rb'"id": ?"?([a-z]+_[0-9a-f]{32}|(?<=:)[0-9]+)')
STATUS = slice(9, 12)
SUCCESS = {b"200", b"201"}
# Where the ID stands: an answer is searched only when the load is over.
BEGINNING_BYTES = 128


@dataclass
class Run:
    """Requests on their way out, and what has come back: how long each took, and how each answer begins."""

    requests: Iterator[bytes]
    pause_seconds: float
    ends_at: float = 0
    latencies_seconds: list[float] = field(default_factory=list)
    beginnings: list[bytes] = field(default_factory=list)
    sample: bytes = b"null"
    refused: bytes = b""

    def note(self, head: bytes, body: bytes, latency_seconds: float) -> None:
        """Keep an answer."""
        status = head[STATUS]
        if status not in SUCCESS:
            self.refused = status + b" " + body
            return
        self.latencies_seconds.append(latency_seconds)
        self.beginnings.append(body[:BEGINNING_BYTES])
        self.sample = body or self.sample


class Connection(asyncio.Protocol):
    """Sends one request after the other, each as soon as the one before is answered; `done` when it has no more."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._received = b""
        self._sent_at = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(HEAD_END)
        if end and len(body) == length_in(head):
            self._run.note(head, body, time.perf_counter() - self._sent_at)
            self.send_after(self._run.pause_seconds)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server has hung up"))

    def send_after(self, seconds: float) -> None:
        """Send the next request, unless time or requests are over or one was refused."""
        if seconds:
            asyncio.get_running_loop().call_later(seconds, self.send_after, 0)
            return
        is_over = self._run.refused or time.perf_counter() >= self._run.ends_at
        request = None if is_over else next(self._run.requests, None)
        if request is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._received = b""
        self._sent_at = time.perf_counter()
        self._transport.write(request)


def length_in(head: bytes) -> int:
    """Return how long the body after this head is. Raises ValueError where the head does not say so."""
    length = LENGTH.search(head)
    if length is None:
        raise ValueError(f"an answer does not say how long it is: {head!r}")
    return int(length[1])


async def answers_to(job: dict[str, Any]) -> dict[str, Any]:
    """Send a job's requests and return its answers."""
    requests = [text.encode() for text in job["requests"]]
    run = Run(cycle(requests) if job["again"] else iter(requests), job["pause_seconds"])
    connect = asyncio.get_running_loop().create_connection
    connections = [(await connect(lambda: Connection(run), HOST, job["port"]))[1] for _ in range(job["connections"])]
    started_at = time.perf_counter()
    run.ends_at = started_at + job["seconds"]
    for number, connection in enumerate(connections):
        connection.send_after(job["spread_seconds"] * number / len(connections))
    await asyncio.gather(*(connection.done for connection in connections))
    return {
        "seconds": time.perf_counter() - started_at,
        "latencies_seconds": run.latencies_seconds,
        "ids": [match[1].decode() for match in map(ID.search, run.beginnings) if match],
        "sample": run.sample.decode(),
        "refused": run.refused.decode(),
    }


if __name__ == "__main__":
    job_file, answers_file = map(Path, sys.argv[1:])
    answers_file.write_text(json.dumps(asyncio.run(answers_to(json.loads(job_file.read_text())))))
