"""Asks for the addresses of names, so that names which never answer cannot hold up the others for long."""

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import NamedTuple

from payments.webhooks.transport.addresses import Address

# From a name to all its addresses as text; raises OSError where there are none.
Resolver = Callable[[str], Awaitable[Sequence[str]]]

THREADS_COUNT = 128
# Of the threads that a merchant may hold, this share is for names of slow receivers.
SLOW_SHARE = 4


class Lookup(NamedTuple):
    """For whom a name is looked up, and whether its receiver was slow the last time."""

    owner: Hashable
    slow: bool


ANYBODY = Lookup(None, slow=False)


class SystemResolver:
    """The operating system's own answer, asked in threads of its own, for one may hang for half a minute."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS_COUNT, thread_name_prefix="resolve")

    async def __call__(self, name: str) -> list[str]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, _ask, name)

    def close(self) -> None:
        """Close without waiting: a thread that hangs ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Lookups:
    """Lookups under way, one per merchant and name at a time: tries that overlap share its answer, later ones ask anew.

    So a name whose servers hang holds one thread, however many events wait for it. A merchant may hold as many threads
    as it leaves free, because its names may be many, and a thread hangs for longer than a try. Nothing is kept.
    """

    def __init__(self, resolve: Resolver) -> None:
        self._resolve = resolve
        self._under_way: dict[tuple[Hashable, str], asyncio.Task[list[Address]]] = {}
        self._held: Counter[Hashable] = Counter()
        self._any_ended = asyncio.Event()

    async def addresses_of(self, name: str, lookup: Lookup = ANYBODY) -> list[Address]:
        """All addresses of `name`, best first, each once. Raises OSError where it has none."""
        key = (lookup.owner, name)
        # The place is waited for here and not in the task, so that a try that is over waits no longer.
        while key not in self._under_way and not self._has_place(lookup):
            await self._any_ended.wait()
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._look_up(name))
            self._held[lookup.owner] += 1
            task.add_done_callback(lambda done: self._forget(key, done))
        return await asyncio.shield(task)

    def _has_place(self, lookup: Lookup) -> bool:
        free = THREADS_COUNT - len(self._under_way)
        return self._held[lookup.owner] < (free // SLOW_SHARE if lookup.slow else free)

    def close(self) -> None:
        """Cancel the lookups under way."""
        for task in self._under_way.values():
            task.cancel()

    async def _look_up(self, name: str) -> list[Address]:
        found = await self._resolve(name)
        if not found:
            raise OSError("no addresses")
        return list(dict.fromkeys(ip_address(text) for text in found))

    def _forget(self, key: tuple[Hashable, str], done: asyncio.Task[list[Address]]) -> None:
        del self._under_way[key]
        self._held[key[0]] -= 1
        if not self._held[key[0]]:
            del self._held[key[0]]
        self._any_ended.set()
        self._any_ended = asyncio.Event()
        if not done.cancelled():
            # The caller may have given up by now; asyncio warns of exceptions that were not retrieved.
            done.exception()


def _ask(name: str) -> list[str]:
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return [str(socket_address[0]) for *_, socket_address in found]
