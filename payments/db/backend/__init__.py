"""The database engine of the settings: PostgreSQL with a connection pool and a circuit breaker."""

# What a statement of a worker or a command may take.
WORK_STATEMENT_SECONDS = 60


def allow_work() -> None:
    """Give the statements of this process WORK_STATEMENT_SECONDS: it is a worker or a command."""
    from payments.db.backend.base import DatabaseWrapper

    DatabaseWrapper.statement_seconds = WORK_STATEMENT_SECONDS
