"""The connection of this thread to the database: its release before a wait, and its statement time-out."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections

# The alias of the database that takes what reads record, in a web process whose own is a standby.
PRIMARY = "primary"


def recording_alias() -> str:
    """Return the alias of the database that takes what reads record: the primary, also where reads are a standby's."""
    return PRIMARY if PRIMARY in connections.settings else DEFAULT_DB_ALIAS


def release_connection() -> None:
    """Return this thread's connection to the pool before a wait for something else, unless in a transaction."""
    own = connections[DEFAULT_DB_ALIAS]
    if own.connection is not None and not own.in_atomic_block:
        own.close()


def allow_long_statements(limit: str = "0") -> None:
    """Set the statement time-out to `limit` (`15min`; "0" for none) until the end of the transaction."""
    limit_statements(limit)
    raw: Any = connection.connection
    # Until the connection is returned; the server enforces `limit`.
    raw.answer_seconds = None


def limit_statements(limit: str) -> None:
    """Set the statement time-out to `limit`, shorter than usual, until the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [limit])
