"""Reads that go to the replica while it is fresh enough, and to the primary as soon as it is not."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, OperationalError, connections, transaction

from payments.connections import release_connection
from payments.db.replica import REPLICA
from payments.db.replica.positions import positions
from payments.metrics.counters import REPLICA_READS

logger = logging.getLogger("kaha.replica")

REPLAYED = """
SELECT CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint END
"""
# All statements of a read see one moment, and none writes, though the server were a primary by now.
SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"

Result = TypeVar("Result")


class NotFresh(OperationalError):
    """The replica is behind, or a standby no more."""


class Reader:
    """Reads that belong together, such as the pages of a file.

    Once the primary has answered one, it answers all that follow: of what comes after a row that the replica has not
    yet, some might be missing there too.
    """

    def __init__(self, uses_replica: bool = True) -> None:
        self.uses_replica = uses_replica and is_configured()

    def __call__(self, work: Callable[[], Result]) -> Result:
        """Return what `work` returns; it only reads, and is called again if the replica fails.

        Within a transaction, or within another read, it stays on that connection.
        """
        if not self.uses_replica or connections[DEFAULT_DB_ALIAS].in_atomic_block:
            return work()
        try:
            with _replica():
                result = work()
        except Error as error:
            self.uses_replica = False
            REPLICA_READS.labels("behind" if isinstance(error, NotFresh) else "failed").inc()
            logger.info("The primary answers for the replica.", extra={"why": type(error.__cause__ or error).__name__})
            return work()
        REPLICA_READS.labels("answered").inc()
        return result


def read(work: Callable[[], Result]) -> Result:
    """Return what `work` returns, which may be REPLICA_MAX_LAG_SECONDS old (see Reader)."""
    return Reader()(work)


def is_configured() -> bool:
    """Return whether there is a replica."""
    return REPLICA in connections.settings


def is_reading() -> bool:
    """Return whether this thread's connection is the replica's at the moment."""
    return connections[DEFAULT_DB_ALIAS].alias == REPLICA


@contextmanager
def _replica() -> Iterator[None]:
    """Have this thread use the replica for everything until the block ends, and hold no connection to the primary."""
    release_connection()
    primary: Any = connections[DEFAULT_DB_ALIAS]
    own: Any = connections[REPLICA]
    # Statements are counted and traced wherever they go.
    own.execute_wrappers = primary.execute_wrappers
    connections[DEFAULT_DB_ALIAS] = own
    try:
        _require_fresh(own)
        with transaction.atomic():
            with own.cursor() as cursor:
                cursor.execute(SNAPSHOT)
            yield
            # The work may have taken the error of a lost connection for one of its own.
            if own.connection is None or own.connection.closed:
                raise OperationalError("The connection to the replica was lost.")
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
        own.close()


def _require_fresh(own: Any) -> None:
    """Raise NotFresh unless the replica has replayed all that the primary had REPLICA_MAX_LAG_SECONDS ago."""
    with own.cursor() as cursor:
        cursor.execute(REPLAYED)
        [replayed] = cursor.fetchone()
    if replayed is None or positions.age_seconds(replayed) > settings.REPLICA_MAX_LAG_SECONDS:
        raise NotFresh("The replica is behind.")
