"""What sign-ins leave behind: sessions, keys of the cache, and what failed."""

from django.core.management import call_command
from django.db import connection

STATEMENTS = (
    "DELETE FROM staff_cache WHERE expires < now()",
    "DELETE FROM staff_signinfailures WHERE last_at < now() - interval '1 day'",
    "DELETE FROM usersessions_usersession WHERE session_key NOT IN (SELECT session_key FROM django_session)",
)


def delete() -> None:
    """Delete the expired sessions of operators, and what else their sign-ins left."""
    call_command("clearsessions")
    with connection.cursor() as cursor:
        for statement in STATEMENTS:
            cursor.execute(statement)
