"""How long this thread keeps its connection to the database, and how long it waits for an answer."""

from typing import Any

from django.db import connection


def release_connection() -> None:
    """Hand this thread's connection on to others, before something is waited for that is not the database.

    In the middle of a transaction it is kept.
    """
    if not connection.in_atomic_block:
        connection.close()


def allow_long_statements(limit: str = "0") -> None:
    """Lift the time limit of statements to `limit` (`15min`; "0" for none) until the transaction under way ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [limit])
    raw: Any = connection.connection
    # Until the connection is handed on; the server keeps `limit`.
    raw.answer_seconds = None
