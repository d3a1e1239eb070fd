"""Asks for the addresses of names, so that names which never answer cannot hold up the others for long."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

from payments.notifications.addresses import Address

# From a name to all its addresses as text; raises OSError where there are none.
Resolver = Callable[[str], Awaitable[Sequence[str]]]

THREADS_COUNT = 64


class SystemResolver:
    """The operating system's own answer, asked in threads of its own, for one may hang for half a minute."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS_COUNT, thread_name_prefix="resolve")

    async def __call__(self, name: str) -> list[str]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, _ask, name)

    def close(self) -> None:
        """Waits for nobody: a thread that hangs ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Lookups:
    """Lookups under way, one per name at a time: tries that overlap share its answer, later ones ask anew.

    So a name whose servers hang holds one thread, however many events wait for it. Nothing is kept.
    """

    def __init__(self, resolve: Resolver) -> None:
        self._resolve = resolve
        self._under_way: dict[str, asyncio.Task[list[Address]]] = {}

    async def addresses_of(self, name: str) -> list[Address]:
        """All addresses of `name`, best first, each once. Raises OSError where it has none."""
        task = self._under_way.get(name)
        if task is None:
            task = self._under_way[name] = asyncio.create_task(self._look_up(name))
            task.add_done_callback(lambda done: self._forget(name, done))
        return await asyncio.shield(task)

    def close(self) -> None:
        """Gives up what is under way."""
        for task in self._under_way.values():
            task.cancel()

    async def _look_up(self, name: str) -> list[Address]:
        found = await self._resolve(name)
        if not found:
            raise OSError("no addresses")
        return list(dict.fromkeys(ip_address(text) for text in found))

    def _forget(self, name: str, done: asyncio.Task[list[Address]]) -> None:
        del self._under_way[name]
        if not done.cancelled():
            # Whoever asked may have given up by now; asyncio complains of errors that nobody looked at.
            done.exception()


def _ask(name: str) -> list[str]:
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return [str(socket_address[0]) for *_, socket_address in found]
