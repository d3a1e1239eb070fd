"""The load, over connections that stay open: `python -m config.benchmark.load JOB ANSWERS`, which are files.

It speaks no more HTTP than our server's answers need, for whatever it spends is missing on the cores that it shares
with the server. What the files hold is in `config.benchmark.sending`.
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
from typing import Any, cast

from payments.quickstart.ports import HOST

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]+)", re.IGNORECASE)
# The first one in an answer is that of the object that was asked for.
ID = re.compile(rb'"id": ?"([a-z]+_[0-9a-f]{32})"')
STATUS = slice(9, 12)
SUCCESS = {b"200", b"201"}
# Where the ID stands in it: an answer is not searched while others wait.
BEGINNING_BYTES = 128


@dataclass
class Run:
    """Requests on their way out, and what has come back: how long each took, and how each answer begins."""

    requests: Iterator[bytes]
    ends_at: float
    pause_seconds: float
    latencies_seconds: list[float] = field(default_factory=list)
    beginnings: list[bytes] = field(default_factory=list)
    sample: bytes = b""
    refused: bytes = b""

    def next_request(self) -> bytes | None:
        """The next one, or None where time or requests are over or one was refused."""
        if self.refused or time.perf_counter() >= self.ends_at:
            return None
        return next(self.requests, None)

    def note(self, status: bytes, body: bytes, latency_seconds: float) -> None:
        """Put down an answer."""
        if status not in SUCCESS:
            self.refused = status + b" " + body
            return
        self.latencies_seconds.append(latency_seconds)
        self.beginnings.append(body[:BEGINNING_BYTES])
        self.sample = body


class Connection(asyncio.Protocol):
    """Sends one request after the other, each as soon as the one before is answered; `done` when it has no more."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._received = b""
        self._sent_at = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def start(self, transport: asyncio.WriteTransport, after_seconds: float) -> None:
        self._transport = transport
        self._send_after(after_seconds)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(HEAD_END)
        if end and len(body) == length_in(head):
            self._run.note(head[STATUS], body, time.perf_counter() - self._sent_at)
            self._send_after(self._run.pause_seconds)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server has hung up"))

    def _send_after(self, seconds: float) -> None:
        if seconds:
            asyncio.get_running_loop().call_later(seconds, self._send)
        else:
            self._send()

    def _send(self) -> None:
        request = self._run.next_request()
        if request is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._received = b""
        self._sent_at = time.perf_counter()
        self._transport.write(request)


def length_in(head: bytes) -> int:
    length = LENGTH.search(head)
    if length is None:
        raise ValueError(f"an answer does not say how long it is: {head!r}")
    return int(length[1])


async def answers_to(job: dict[str, Any]) -> dict[str, Any]:
    """Does a job and returns its answers."""
    requests = [text.encode() for text in job["requests"]]
    run = Run(cycle(requests) if job["again"] else iter(requests), ends_at=0, pause_seconds=job["pause_seconds"])
    loop = asyncio.get_running_loop()
    opened = [
        await loop.create_connection(lambda: Connection(run), HOST, job["port"]) for _ in range(job["connections"])
    ]
    started_at = time.perf_counter()
    run.ends_at = started_at + job["seconds"]
    for number, (transport, connection) in enumerate(opened):
        connection.start(cast(asyncio.WriteTransport, transport), job["spread_seconds"] * number / len(opened))
    await asyncio.gather(*(connection.done for _, connection in opened))
    return _shown(run, time.perf_counter() - started_at)


def _shown(run: Run, seconds: float) -> dict[str, Any]:
    found = [ID.search(beginning) for beginning in run.beginnings]
    return {
        "seconds": seconds,
        "latencies_seconds": run.latencies_seconds,
        "ids": [match[1].decode() for match in found if match],
        "sample": run.sample.decode(),
        "refused": run.refused.decode(),
    }


def main(job_file: Path, answers_file: Path) -> None:
    answers = asyncio.run(answers_to(json.loads(job_file.read_text())))
    answers_file.write_text(json.dumps(answers))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
