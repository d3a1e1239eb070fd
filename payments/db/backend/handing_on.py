"""Connections that nobody asks anything at the moment, for whoever asks next."""

import select
from collections import deque
from collections.abc import Callable

from psycopg import OperationalError
from psycopg.pq import TransactionStatus

from payments import context
from payments.db.backend.availability import Availability
from payments.db.backend.bounded import BoundedConnection
from payments.db.backend.turns import Turns

# So long a request waits for a connection before it is answered 503.
WAIT_SECONDS = 5


class Connections:
    """Those of this process to one database: never more than `most`, whoever has them in hand.

    The one used last is handed on first, so that there are no more than are needed at once, and each knows the
    statements that are prepared on it.
    """

    def __init__(self, most: int) -> None:
        self.availability = Availability()
        self._turns = Turns(most)
        self._kept: deque[BoundedConnection] = deque()

    def take(self) -> BoundedConnection | None:
        """One that is kept; None where the caller is to make its own.

        Raises OperationalError where all are in use, and NotAnswering at once where the database does not answer.
        """
        self.availability.require()
        if not self._turns.begin(WAIT_SECONDS, context.merchant.get()):
            raise OperationalError("Every connection to the database was in use for too long.")
        try:
            self.availability.require()
        except OperationalError:
            self._turns.end()
            raise
        return self._next_kept()

    def lose(self, probe: Callable[[], None]) -> None:
        """Have nothing asked of the database until `probe` raises nothing."""
        self.availability.lose(probe)
        self.close()

    def _next_kept(self) -> BoundedConnection | None:
        while self._kept:
            try:
                connection = self._kept.pop()
            except IndexError:  # another thread was faster
                break
            if _is_quiet(connection):
                return connection
            connection.close()
        return None

    def give_back(self, connection: BoundedConnection | None) -> None:
        """Ends what `take` began. What is in the middle of something is closed; None is one that was never made."""
        if connection is not None and _is_at_rest(connection):
            self._kept.append(connection)
        elif connection is not None:
            connection.close()
        self._turns.end()

    def close(self) -> None:
        """Closes all that nobody has in hand."""
        while self._kept:
            try:
                self._kept.pop().close()
            except IndexError:  # another thread was faster
                break


def _is_at_rest(connection: BoundedConnection) -> bool:
    is_idle = connection.pgconn.transaction_status == TransactionStatus.IDLE
    return is_idle and connection.autocommit and not connection.closed


def _is_quiet(connection: BoundedConnection) -> bool:
    """Whether the server has said nothing unasked, as it does where it ends: a health check without a round trip."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)
