"""Connections of an event loop that end where their server does not answer."""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Any, TypeVar

from psycopg import AsyncConnection
from psycopg.abc import PQGen

from payments.db.backend.bounded_connection import LOOK_SECONDS, SILENCE_SECONDS, NotAnswering

Result = TypeVar("Result")


class WatchedConnection(AsyncConnection[Any]):
    """A connection that asks `is_there` after SILENCE_SECONDS without an answer, as BoundedConnection does."""

    is_there: Callable[[], bool] | None = None
    gave_up: Callable[[], None] | None = None

    async def wait(self, gen: PQGen[Result], interval: float = LOOK_SECONDS, timeout: float | None = None) -> Result:
        answer = asyncio.ensure_future(super().wait(gen, interval, timeout))
        try:
            while not (await asyncio.wait([answer], timeout=SILENCE_SECONDS))[0]:
                # It may take seconds, in which the loop does other things.
                if self.is_there and not await asyncio.to_thread(self.is_there):
                    self._hang_up()
                    await asyncio.wait([answer])
                    if self.gave_up:
                        self.gave_up()
                    raise NotAnswering("PostgreSQL gave no answer in time.") from answer.exception()
            return answer.result()
        finally:
            if not answer.done():
                # This task was cancelled, and so is the statement.
                answer.cancel()
                await asyncio.wait([answer])

    def _hang_up(self) -> None:
        """End the connection so that whatever waits for it sees the end; the descriptor stays psycopg's."""
        with socket.socket(fileno=os.dup(self.pgconn.socket)) as opened:
            opened.shutdown(socket.SHUT_RDWR)
