"""The moment up to which rows can be read in the order of their IDs without missing one that is committed later."""

from datetime import datetime

from django.db import connection

# An ID is made shortly before its statement is sent, by a host whose clock may differ from the database's. What writes
# for longer than a minute makes no events, nor does an autovacuum. PostgreSQL shows those of the same role, which all
# processes use. A standby shows none of them, so there it is a minute before the newest commit that it has.
HORIZON = """
SELECT CASE WHEN pg_is_in_recovery()
THEN coalesce(pg_last_xact_replay_timestamp(), 'epoch') - interval '1 minute'
ELSE greatest(
    least(clock_timestamp(), min(xact_start)) - interval '1 second', clock_timestamp() - interval '1 minute'
) END
FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
AND xact_start IS NOT NULL AND (backend_xid IS NOT NULL OR wait_event_type = 'Lock')
"""


def commit_horizon() -> datetime:
    """Return the moment before which no transaction that is under way began; read it before the rows."""
    with connection.cursor() as cursor:
        cursor.execute(HORIZON)
        moment: datetime = cursor.fetchone()[0]
    return moment
