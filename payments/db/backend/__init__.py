"""The database as Django sees it: PostgreSQL, by connections that threads hand on to each other."""

# What a statement of a worker or a command may take.
WORK_STATEMENT_SECONDS = 60


def allow_work() -> None:
    """Give the statements of this process WORK_STATEMENT_SECONDS: it is a worker or a command, and serves nobody."""
    from payments.db.backend.base import DatabaseWrapper

    DatabaseWrapper.statement_seconds = WORK_STATEMENT_SECONDS
