"""Connections that wait for an answer for a bounded time."""

from collections.abc import Callable
from typing import Any, TypeVar

from psycopg import Connection
from psycopg.abc import PQGen
from psycopg.errors import ReadOnlySqlTransaction, _WaitTimeout

from payments.db.backend.circuit_breaker import NotAnswering

# How often psycopg wakes up while it waits, so that Python handles signals.
LOOK_SECONDS = 0.1
# After this long without an answer the server is asked on another connection whether it is there.
SILENCE_SECONDS = 4.0

Result = TypeVar("Result")


class BoundedConnection(Connection[Any]):
    """A connection that closes if PostgreSQL does not answer a statement within `answer_seconds` (None: no limit).

    The server ends a statement after its own `statement_timeout`, but only while it runs: a stopped process never
    answers. So after SILENCE_SECONDS `is_there` is asked, which says whether the server answers others; that ends a
    statement that may take long, too. TCP itself finds a host that is unplugged (see the settings).
    """

    answer_seconds: float | None = None
    is_there: Callable[[], bool] | None = None
    gave_up: Callable[[], None] | None = None
    # A server that has become a standby is of no use to us: the connection is closed when it is given back.
    is_read_only = False

    def wait(self, gen: PQGen[Result], interval: float = LOOK_SECONDS, timeout: float | None = None) -> Result:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(self._watched(gen, interval), interval, self.answer_seconds)
        except (_WaitTimeout, NotAnswering):
            # In the middle of a statement the connection cannot be used again.
            self.pgconn.finish()
            if self.gave_up:
                self.gave_up()
            raise NotAnswering("PostgreSQL gave no answer in time.") from None
        except ReadOnlySqlTransaction:
            self.is_read_only = True
            raise

    def _watched(self, gen: PQGen[Result], interval: float) -> PQGen[Result]:
        """Pass `gen` on; raise NotAnswering once its answer is late and the server is not there."""
        silent_seconds = 0.0
        try:
            state = next(gen)
            while True:
                ready = yield state
                if ready:
                    silent_seconds = 0.0
                    state = gen.send(ready)
                    continue
                silent_seconds += interval
                if silent_seconds > SILENCE_SECONDS and self.is_there and not self.is_there():
                    raise NotAnswering
                gen.send(ready)
        except StopIteration as ended:
            result: Result = ended.value
            return result
