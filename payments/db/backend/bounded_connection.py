"""Connections that wait for an answer for a bounded time."""

from collections.abc import Callable
from typing import Any, TypeVar

from psycopg import Connection
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout

from payments.db.backend.circuit_breaker import NotAnswering

# How often psycopg wakes up while it waits, so that Python handles signals.
LOOK_SECONDS = 0.1

Result = TypeVar("Result")


class BoundedConnection(Connection[Any]):
    """A connection that closes if PostgreSQL does not answer a statement within `answer_seconds` (None: no limit).

    The server ends a statement after its own `statement_timeout`, but only while it runs: a stopped process or an
    unplugged host never answers.
    """

    answer_seconds: float | None = None
    gave_up: Callable[[], None] | None = None

    def wait(self, gen: PQGen[Result], interval: float = LOOK_SECONDS, timeout: float | None = None) -> Result:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_seconds)
        except _WaitTimeout:
            # In the middle of a statement the connection cannot be used again.
            self.pgconn.finish()
            if self.gave_up:
                self.gave_up()
            raise NotAnswering(f"PostgreSQL gave no answer within {self.answer_seconds} s.") from None
