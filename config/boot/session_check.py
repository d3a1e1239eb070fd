"""Whether the time-outs of kaha's sessions with PostgreSQL hold: a pooler between may drop or refuse them."""

import logging
import sys
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connection
from psycopg import Error as DatabaseError

from payments.db.backend import session

logger = logging.getLogger("kaha.boot")

SET_THEM = "Set them on the role, and for the worker in the pooler, as config/deploy/pgbouncer.sql and .ini do."
NAME_POOLER = "A pooler drops them: set DATABASE_POOLER=transaction, and see config/deploy/pgbouncer.sql."
REFUSED = "refuses kaha's start-up options, as a pooler does: set DATABASE_POOLER=transaction."


@register(Tags.database)
def check_session(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Return an error for each time-out that does not hold; only commands that use a database run it."""
    return [Error(fault, id="configuration.DATABASE_POOLER") for fault in (session_faults() if databases else [])]


def refuse_unbounded_sessions() -> None:
    """End this web process or worker where a time-out does not hold.

    A database that does not answer now is no fault: it is checked again for `/ready`.
    """
    if faults := session_faults():
        sys.exit("\n".join(["kaha does not start:", *(f"  {fault}" for fault in faults)]))


def session_faults() -> list[str]:
    """Return one line for each fault of a new session, and one that says what to do."""
    try:
        with session.open_outside_pool(connection.get_connection_params()) as probe:
            faults = session.faults_of(probe, connection.statement_time_seconds)  # type: ignore[attr-defined]
    except DatabaseError as error:
        if "startup parameter" in str(error):
            return [f"DATABASE_URL names a server that {REFUSED}"]
        logger.warning("PostgreSQL does not answer, so its time-outs are not checked yet.")
        return []
    return [*faults, SET_THEM if settings.DATABASE_POOLER else NAME_POOLER] if faults else []
