"""Requests that wait for something that may come, in the event loop: they hold no thread and no connection."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from payments.api.views.feeds import Wait
from payments.connections import release_connection
from payments.web.responses import Answer, Client

POLL_SECONDS = 0.5
# However many requests wait, a process looks no more often than this, by one thread with one connection.
POLLS_A_SECOND = 50


class Waits:
    """The requests of one process that wait."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="wait")
        self._count = 0
        self._is_ending = asyncio.Event()

    def end(self) -> None:
        """Answer those that wait at once, because the process ends."""
        self._is_ending.set()

    async def answer(self, wait: Wait, empty: Answer | None, client: Client) -> Answer | None:
        """Return the answer of a request that waits: `empty` if nothing comes in time, None if its client leaves."""
        self._count += 1
        ending = asyncio.create_task(self._is_ending.wait())
        try:
            while empty and not client.leaving.done() and not ending.done():
                if content := await self._found(wait):
                    return empty.with_body(content)
                left = wait.give_up_at - time.monotonic()
                if left <= 0:
                    break
                pause = min(left, max(POLL_SECONDS, self._count / POLLS_A_SECOND))
                await asyncio.wait([client.leaving, ending], timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            return None if client.leaving.done() else empty
        finally:
            ending.cancel()
            self._count -= 1
            wait.end()

    async def _found(self, wait: Wait) -> bytes | None:
        return await asyncio.get_running_loop().run_in_executor(self._thread, _find, wait)


def _find(wait: Wait) -> bytes | None:
    try:
        return wait.find()
    finally:
        release_connection()
