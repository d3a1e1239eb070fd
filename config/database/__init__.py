"""The database as Django sees it: PostgreSQL, by connections that threads hand on to each other."""

from django.db import connection

# What a statement of a worker or a command may take.
WORK_STATEMENT_SECONDS = 60


def is_answering() -> bool:
    """Return whether PostgreSQL answers, as far as this process knows; asks nobody.

    False from a statement or connection that got no answer until a probe, about once a second, got one.
    """
    return bool(connection.is_answering)  # type: ignore[attr-defined] # of our DatabaseWrapper


def allow_work() -> None:
    """Give the statements of this process WORK_STATEMENT_SECONDS: it is a worker or a command, and serves nobody."""
    from config.database.base import DatabaseWrapper

    DatabaseWrapper.statement_seconds = WORK_STATEMENT_SECONDS
