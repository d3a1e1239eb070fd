"""Requests at a steady rate and sockets that say nothing, from a process of their own.

Their sender waits for no answer before it sends the next request, so that a slow server meets as many as a fast one.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from typing import Any

import aiohttp

from payments.embedded.processes import die_with_parent

# The offender's address on loopback; everybody else asks from 127.0.0.1.
OFFENDER = "127.0.0.66"
TIMEOUT_SECONDS = 60
MOST_IN_FLIGHT = 2000
REOPEN_SECONDS = 1.0

Work = Callable[..., Awaitable[None]]
# Each process is a copy of one that has loaded what they do.
COPIES = multiprocessing.get_context("forkserver")
COPIES.set_forkserver_preload(["tests.neighbours.offences"])


@contextmanager
def running(work: Work, *arguments: Any) -> Iterator[None]:
    """Run the coroutine function `work` in a new process until the block ends."""
    process: BaseProcess = COPIES.Process(target=_run, args=(work, arguments))
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def _run(work: Work, arguments: tuple[Any, ...]) -> None:
    # The process that is copied ends with ours.
    die_with_parent(os.getppid(), signal.SIGKILL)
    # They would be on other machines, and take only the processor time that the service leaves.
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    asyncio.run(_until_killed(work, arguments))


async def _until_killed(work: Work, arguments: tuple[Any, ...]) -> None:
    await work(*arguments)


class Sender:
    """Sends JSON to `url` with `key`, from the offender's address or another."""

    def __init__(self, url: str, key: str, address: str = OFFENDER) -> None:
        self._url, self._key, self._address = url, key, address

    async def __aenter__(self) -> "Sender":
        connector = aiohttp.TCPConnector(limit=0, local_addr=(self._address, 0))
        headers = {"Authorization": f"Bearer {self._key}"}
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
        self._session = aiohttp.ClientSession(self._url, headers=headers, connector=connector, timeout=timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer's object; empty where there is none or it is no success."""
        with suppress(aiohttp.ClientError, TimeoutError):
            async with self._session.request(method, f"/v2{path}", json=body) as response:
                answer = await response.read()
                if response.status < 300:
                    return dict(await response.json()) if answer else {}
        return {}


async def at_rate(per_second: float, send: Callable[[int], Awaitable[None]], first_at_once: int = 0) -> None:
    """Call `send(number)` for ever: `first_at_once` times at once, and then `per_second` times a second."""
    in_flight: set[asyncio.Task[None]] = set()
    number, loop = 0, asyncio.get_running_loop()
    next_at = loop.time()
    while True:
        if len(in_flight) < MOST_IN_FLIGHT:
            task = asyncio.ensure_future(send(number))
            in_flight.add(task)
            task.add_done_callback(in_flight.discard)
        number += 1
        if number >= first_at_once:
            next_at += 1 / per_second
            await asyncio.sleep(max(0.0, next_at - loop.time()))


async def hold_sockets(count: int, port: int, opening: bytes) -> None:
    """Keep `count` connections open, each of which sends `opening` and nothing more; a closed one is opened again."""
    await asyncio.gather(*(_hold(port, opening, OFFENDER) for _ in range(count)))


async def hold_sockets_of_many(port: int, openings: Sequence[bytes], count: int) -> None:
    """Keep `count` connections open for each of `openings`, from an address of its own."""
    crowd = ((opening, address_of(number)) for number, opening in enumerate(openings))
    await asyncio.gather(*(_hold(port, opening, address) for opening, address in crowd for _ in range(count)))


def address_of(number: int) -> str:
    """Return the address on loopback of one of a crowd."""
    return f"127.0.1.{number + 1}"


async def _hold(port: int, opening: bytes, address: str) -> None:
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            try:
                writer.write(opening)
                await reader.read()
            finally:
                writer.close()
        await asyncio.sleep(REOPEN_SECONDS)
