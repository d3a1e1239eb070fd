"""Since when the oldest item of each sweep is due, by the index that the sweep itself uses."""

from datetime import datetime

from django.db import Error, connection, transaction

from payments.concurrency.connections import limit_statements
from payments.sweeps.table import SWEEPS

STATEMENT_LIMIT = "3s"
MEASURED = [name for name, sweep in SWEEPS.items() if sweep.due]

RECORD = """
UPDATE payments_sweep s SET oldest_due_at = measured.oldest_due_at, measured_at = statement_timestamp(),
    due_since = CASE WHEN measured.oldest_due_at IS NOT NULL THEN coalesce(s.due_since, statement_timestamp()) END
FROM unnest(%s::text[], %s::timestamptz[]) AS measured (name, oldest_due_at) WHERE s.name = measured.name
"""


def measure(name: str) -> datetime | None:
    """Return since when the oldest item of the sweep is due, None if nothing is; raise Error after STATEMENT_LIMIT."""
    with transaction.atomic():
        limit_statements(STATEMENT_LIMIT)
        return min(filter(None, (read() for read in SWEEPS[name].due)), default=None)


def record() -> int:
    """Record the oldest due items; return how many sweeps have one. Raise the last Error, after all are tried."""
    found, fault = dict[str, datetime | None](), None
    for name in MEASURED:
        try:
            found[name] = measure(name)
        except Error as error:
            fault = error
    with connection.cursor() as cursor:
        cursor.execute(RECORD, [list(found), list(found.values())])
    if fault:
        raise fault
    return len([moment for moment in found.values() if moment])
