"""Connections that wait for an answer for a bounded time."""

from collections.abc import Callable
from typing import Any, TypeVar

from psycopg import Connection
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout

from payments.db.backend.availability import NotAnswering

# How often psycopg looks up from waiting, so that Python hears of signals.
LOOK_SECONDS = 0.1

Result = TypeVar("Result")


class BoundedConnection(Connection[Any]):
    """A connection that is given up where PostgreSQL does not answer a statement within `answer_seconds`.

    The server ends a statement after its own `statement_timeout`, but only as long as it runs: of a process that is
    stopped, or a host that is unplugged, no answer ever comes. `answer_seconds` is None where a statement may take as
    long as it likes.
    """

    answer_seconds: float | None = None
    gave_up: Callable[[], None] | None = None

    def wait(self, gen: PQGen[Result], interval: float = LOOK_SECONDS, timeout: float | None = None) -> Result:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_seconds)
        except _WaitTimeout:
            # In the middle of a statement nothing else can be asked by it any more.
            self.pgconn.finish()
            if self.gave_up:
                self.gave_up()
            raise NotAnswering(f"PostgreSQL gave no answer within {self.answer_seconds} s.") from None
