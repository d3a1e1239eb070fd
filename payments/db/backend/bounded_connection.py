"""Connections that wait for an answer for a bounded time, and take no commit for done that a failover may undo."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from psycopg import Connection, OperationalError, RawCursor
from psycopg.abc import PQGen
from psycopg.errors import Diagnostic, ReadOnlySqlTransaction
from psycopg.pq.abc import PGconn

# How often psycopg wakes up while it waits, so that Python handles signals.
LOOK_SECONDS = 0.1
# After this long without an answer the server is asked on another connection whether it is there.
SILENCE_SECONDS = 4.0
# Where PostgreSQL waits for a synchronous standby; it names no SQLSTATE of its own, and translates its messages.
STANDBY_WAIT = "SyncRepWaitForLSN"

Result = TypeVar("Result")


class NotAnswering(OperationalError):
    """PostgreSQL did not answer in time, and the circuit breaker is open until a probe succeeds."""


class NotReplicated(OperationalError):
    """The wait of a commit for its synchronous standby was cancelled: it is kept here, and lost if that takes over."""


class BoundedConnection(Connection[Any]):
    """A connection that closes if PostgreSQL does not answer a statement within `answer_seconds` (None: no limit).

    The server ends a statement after its own `statement_timeout`, but only while it runs: a stopped process never
    answers. So after SILENCE_SECONDS `is_there` is asked, which says whether the server answers others; that ends a
    statement that may take long, too. TCP itself finds a host that is unplugged (see the settings).

    A commit whose wait for a synchronous standby was cancelled is an answer, with a mere warning. It raises
    NotReplicated, and ends the connection as an answer that was lost does.
    """

    answer_seconds: float | None = None
    is_there: Callable[[], bool] | None = None
    gave_up: Callable[[], None] | None = None
    # A server that has become a standby is of no use to us: the connection is closed when it is given back.
    is_read_only = False

    def __init__(self, pgconn: PGconn) -> None:
        super().__init__(pgconn)
        self._cancelled_waits: list[str] = []
        # Not a method of ours, which would keep this connection until the garbage collector comes.
        self.add_notice_handler(partial(_note_cancelled_wait, self._cancelled_waits))
        # By the text of their statements and whether rows are for rendering (`payments.db.numbered_cursor`).
        self.cursors: dict[tuple[str, bool], RawCursor[Any]] = {}

    def wait(self, gen: PQGen[Result], interval: float = LOOK_SECONDS, timeout: float | None = None) -> Result:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            result = super().wait(self._watched(gen, interval), interval)
        except NotAnswering:
            # In the middle of a statement the connection cannot be used again.
            self.pgconn.finish()
            if self.gave_up:
                self.gave_up()
            raise NotAnswering("PostgreSQL gave no answer in time.") from None
        except ReadOnlySqlTransaction:
            self.is_read_only = True
            raise
        if self._cancelled_waits:
            self.pgconn.finish()
            raise NotReplicated(self._cancelled_waits[0])
        return result

    def _watched(self, gen: PQGen[Result], interval: float) -> PQGen[Result]:
        """Pass `gen` on; raise NotAnswering once its answer is late and the server is not there, or is too late."""
        silent_seconds = waited_seconds = 0.0
        try:
            state = next(gen)
            while True:
                ready = yield state
                if ready:
                    silent_seconds = 0.0
                    state = gen.send(ready)
                    continue
                silent_seconds += interval
                waited_seconds += interval
                if self.answer_seconds is not None and waited_seconds > self.answer_seconds:
                    raise NotAnswering
                if silent_seconds > SILENCE_SECONDS and self.is_there and not self.is_there():
                    raise NotAnswering
                gen.send(ready)
        except StopIteration as ended:
            result: Result = ended.value
            return result


def _note_cancelled_wait(cancelled_waits: list[str], notice: Diagnostic) -> None:
    if notice.source_function == STANDBY_WAIT:
        cancelled_waits.append(notice.message_primary or STANDBY_WAIT)
