"""Django's settings for kaha's databases: the primary, and a replica of it."""

from typing import Any

from payments.db.backend import session

# Of one process; lists, statements and files need few.
REPLICA_CONNECTIONS = 4
# In place of a malformed URL, which is refused at boot.
NEVER_USED = "postgresql:///kaha"


def primary(named: dict[str, Any], connections: int, is_pooled: bool) -> dict[str, Any]:
    """Return the settings of the database that DATABASE_URL has `named`, with so many connections a process."""
    return {
        **named,
        "ENGINE": "payments.db.backend",
        # None is held during a provider call.
        "CONNECTIONS": connections,
        "CONN_MAX_AGE": 0,
        "IS_POOLED": is_pooled,
        # A cursor belongs to a session, and ours go back to the pool: to close one late would abort the transaction of
        # the thread that has the session by then.
        "DISABLE_SERVER_SIDE_CURSORS": True,
        # Statement time limit of a request; workers and commands have a minute (`payments.db.backend`).
        "STATEMENT_SECONDS": 10,
        "OPTIONS": {
            **named.get("OPTIONS", {}),
            "server_side_binding": True,
            "prepare_threshold": 5,
            **session.CONNECT,
        },
    }


def replica(named: dict[str, Any], is_pooled: bool) -> dict[str, Any]:
    """Return the settings of the standby that REPLICA_DATABASE_URL has `named`."""
    settings = primary(named, REPLICA_CONNECTIONS, is_pooled)
    return {**settings, "OPTIONS": {**settings["OPTIONS"], "target_session_attrs": "standby"}, "IS_REPLICA": True}
