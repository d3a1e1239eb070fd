"""The connection pool of one process."""

import logging
import select
import time
from collections import deque
from collections.abc import Callable, Hashable
from threading import Lock

from psycopg import Error, OperationalError
from psycopg.pq import TransactionStatus

from payments import context
from payments.concurrency.circuit_breaker import CircuitBreaker
from payments.concurrency.fair_queue import Share, Turn
from payments.db.backend.bounded_connection import BoundedConnection, NotAnswering

logger = logging.getLogger("kaha.database")

# How long a request waits for a connection before it is answered 503.
WAIT_SECONDS = 5
PROBE_PAUSE_SECONDS = 1.0


class ConnectionPool:
    """The connections of this process to one database: never more than `most`, in use and idle.

    The one used last is given out first, so that no more are open than are needed at once, and each has its
    statements prepared.
    """

    def __init__(self, most: int) -> None:
        self.breaker = CircuitBreaker("PostgreSQL", PROBE_PAUSE_SECONDS)
        self.most = most
        # Each payment takes a connection four times, so a thread that returns must not overtake those that wait.
        self._turns = Share(most, leaves_room=False)
        self._kept: deque[BoundedConnection] = deque()
        self._probing = Lock()
        # When each server last answered a question of `is_there`.
        self._answered_at: dict[Hashable, float] = {}

    @property
    def in_use(self) -> int:
        return self._turns.taken

    @property
    def waiting(self) -> int:
        """The threads that wait for a connection."""
        return self._turns.waiting

    def take(self) -> tuple[Turn, BoundedConnection | None]:
        """Return the turn to use a connection, and an idle one, or None if the caller must open one.

        Raises OperationalError if all stay in use, and NotAnswering at once while the circuit breaker is open.
        """
        self._require_answer()
        turn = self._turns.wait(context.merchant.get(), WAIT_SECONDS)
        if turn is None:
            raise OperationalError("Every connection to the database was in use for too long.")
        try:
            self._require_answer()
        except OperationalError:
            self._turns.end(turn)
            raise
        while self._kept:
            try:
                connection = self._kept.pop()
            except IndexError:  # another thread was faster
                break
            if _is_quiet(connection):
                return turn, connection
            connection.close()
        return turn, None

    def lose(self, probe: Callable[[], None]) -> None:
        """Open the circuit breaker until `probe` succeeds, and close the idle connections."""
        if self.breaker.open(probe):
            logger.error("%s does not answer; nothing is asked of it until it does.", self.breaker.name)
        self.close()

    def is_there(self, server: Hashable, probe: Callable[[], None]) -> bool:
        """Return whether `server` answers, asked by `probe` at most once in PROBE_PAUSE_SECONDS for all threads."""
        if self.breaker.is_open:
            return False
        if time.monotonic() - self._answered_at.get(server, 0.0) < PROBE_PAUSE_SECONDS:
            return True
        if not self._probing.acquire(blocking=False):
            # Another thread is asking, and finds out for this one, too.
            return True
        try:
            probe()
        except (Error, OSError) as error:
            # A server that refuses a connection does answer.
            if "FATAL" not in str(error):
                return False
        finally:
            self._probing.release()
        self._answered_at[server] = time.monotonic()
        return True

    def give_back(self, turn: Turn, connection: BoundedConnection | None) -> None:
        """End a turn, and return its connection, None if none was opened.

        Closes it if it is in a transaction, and with all idle ones if its server has become read-only.
        """
        if connection is not None and connection.is_read_only:
            connection.close()
            self.close()
        elif connection is not None:
            has_no_transaction = connection.pgconn.transaction_status == TransactionStatus.IDLE
            if has_no_transaction and connection.autocommit and not connection.closed:
                self._kept.append(connection)
            else:
                connection.close()
        self._turns.end(turn)

    def close(self) -> None:
        """Close the idle connections."""
        while self._kept:
            try:
                self._kept.pop().close()
            except IndexError:  # another thread was faster
                break

    def _require_answer(self) -> None:
        if self.breaker.is_open:
            raise NotAnswering(f"{self.breaker.name} does not answer.")


def _is_quiet(connection: BoundedConnection) -> bool:
    """Return whether the server has sent nothing, as it does when it ends: a health check without a round trip."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)
