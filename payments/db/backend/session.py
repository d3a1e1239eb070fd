"""What bounds every session with PostgreSQL, and whether it does so.

kaha sends these settings when it connects. A pooler in transaction mode takes none, so there they are the role's and
the pooler's (`config/deploy/pgbouncer.sql`, `config/deploy/pgbouncer.ini`).
"""

from typing import Any

from payments.db.backend.bounded_connection import BoundedConnection

STANDBY = "standby"
CONNECT = {
    # Of each host. A standby takes no payment, so the next host is asked.
    "connect_timeout": 3,
    "target_session_attrs": "read-write",
    # Find a host that has disappeared within ten seconds; without effect on a Unix socket.
    "keepalives": 1,
    "keepalives_idle": 3,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 6_000,
}
# In milliseconds, as PostgreSQL shows them. A row that is locked for longer makes the request "busy" instead of
# hanging it.
LIMITS_MILLISECONDS = {"lock_timeout": 5_000, "idle_in_transaction_session_timeout": 60_000}
FOUND = "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)"
# How long a probe waits for the answer to a statement.
PROBE_SECONDS = 3


def options(statement_seconds: int, is_read_only: bool = False) -> str:
    """Return the start-up options of a session."""
    settings = {name: f"{value}ms" for name, value in _limits(statement_seconds).items()}
    # JIT compilation never pays here, but the planner would use it for statements with expensive conditions.
    settings |= {"jit": "off"} | ({"default_transaction_read_only": "on"} if is_read_only else {})
    return " ".join(f"-c {name}={value}" for name, value in settings.items())


def open_outside_pool(params: dict[str, Any], **own: Any) -> BoundedConnection:
    """Return a connection with Django's `params` that is in no pool; raise psycopg.Error where there is none."""
    connection = BoundedConnection.connect(**{**params, **own}, autocommit=True)
    connection.answer_seconds = PROBE_SECONDS
    return connection


def faults_of(connection: BoundedConnection, statement_seconds: int) -> list[str]:
    """Return one line for each limit that does not hold on `connection`."""
    found = {str(name): str(value) for name, value in connection.execute(FOUND, [list(_limits(statement_seconds))])}
    return [
        f"{name} is {found.get(name, '0')} ms on the connections to PostgreSQL and must be {limit} ms."
        for name, limit in _limits(statement_seconds).items()
        if found.get(name) != str(limit)
    ]


def _limits(statement_seconds: int) -> dict[str, int]:
    return {"statement_timeout": statement_seconds * 1000, **LIMITS_MILLISECONDS}
