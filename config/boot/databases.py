"""Django's settings for kaha's database, and for a web process that reads from a standby of it."""

from typing import Any

from payments.concurrency.connections import PRIMARY
from payments.db.backend import session


def named_by(url: dict[str, Any], connections: int, is_pooled: bool) -> dict[str, dict[str, Any]]:
    """Return DATABASES, with so many connections a process, for the parts of DATABASE_URL.

    Where it asks for a standby, what reads record is written to the primary, which is another of its hosts.
    """
    primary = _settings(url, connections, is_pooled)
    if url.get("OPTIONS", {}).get("target_session_attrs") != session.STANDBY:
        return {"default": primary}
    options = primary["OPTIONS"] | {"target_session_attrs": session.STANDBY}
    return {"default": primary | {"OPTIONS": options}, PRIMARY: primary}


# What pages of operators write when they are read: sessions, and that recovery codes were shown.
SESSIONS = {"sessions.Session", "usersessions.UserSession", "mfa.Authenticator"}


class SessionRouter:
    """Has Django write the sessions of operators to the primary."""

    def db_for_write(self, model: Any, **_: Any) -> str | None:
        return PRIMARY if model._meta.label in SESSIONS else None


def _settings(url: dict[str, Any], connections: int, is_pooled: bool) -> dict[str, Any]:
    return {
        **url,
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
            **url.get("OPTIONS", {}),
            "server_side_binding": True,
            "prepare_threshold": 5,
            **session.CONNECT,
        },
    }
