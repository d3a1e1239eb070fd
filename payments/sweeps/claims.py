"""Claims of due sweeps by workers, and the records of their runs: one statement each, by the clock of the database.

A claim moves the sweep's `due_at`, so one worker runs it and the others pass it by. A sweep that only one worker may
run is claimed for LEASE_SECONDS, which its worker renews; a worker that dies leaves it to the others after that time.
No transaction of these waits for the disk or a standby: a claim that a crash forgets leads to a repeat, which is safe.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from payments.db.writes import QUICK
from payments.sweeps.table import SWEEPS

LEASE_SECONDS = 45.0

REGISTER = "INSERT INTO payments_sweep (name, error) SELECT unnest(%s::text[]), '' ON CONFLICT DO NOTHING"

CLAIM = f"""
WITH free AS (
    SELECT * FROM unnest(%(names)s::text[], %(seconds)s::float8[]) AS free (name, seconds)
), due AS (
    SELECT s.name, free.seconds FROM payments_sweep s JOIN free USING (name)
    WHERE s.due_at <= statement_timestamp() AND {QUICK}
    ORDER BY s.due_at LIMIT %(limit)s FOR UPDATE OF s SKIP LOCKED
)
UPDATE payments_sweep s SET due_at = statement_timestamp() + make_interval(secs => due.seconds),
    started_at = statement_timestamp(), worker = %(worker)s
FROM due WHERE s.name = due.name
RETURNING s.name, s.started_at
"""  # nosec B608 # no value in it

RENEW = f"""
UPDATE payments_sweep s SET due_at = statement_timestamp() + make_interval(secs => %(seconds)s)
FROM unnest(%(names)s::text[], %(starts)s::timestamptz[]) AS held (name, started_at)
WHERE s.name = held.name AND s.worker = %(worker)s AND s.started_at = held.started_at AND {QUICK}
"""  # nosec B608 # no value in it

FINISH = f"""
UPDATE payments_sweep s SET finished_at = statement_timestamp(), milliseconds = run.milliseconds, error = run.error,
    worked_at = CASE WHEN run.error = '' THEN statement_timestamp() ELSE s.worked_at END,
    due_at = CASE WHEN s.worker = %(worker)s AND s.started_at = run.started_at
        THEN coalesce(run.started_at + make_interval(secs => run.seconds), s.due_at) ELSE s.due_at END
FROM unnest(
    %(names)s::text[], %(starts)s::timestamptz[], %(milliseconds)s::int[], %(errors)s::text[], %(seconds)s::float8[]
) AS run (name, started_at, milliseconds, error, seconds)
WHERE s.name = run.name AND {QUICK}
"""  # nosec B608 # no value in it


class Claim(NamedTuple):
    """A sweep that this worker is to run, and when it was claimed."""

    name: str
    started_at: datetime


class Run(NamedTuple):
    """A run that has ended: the class of its error, "" if it worked."""

    claim: Claim
    milliseconds: int
    error: str


def register() -> None:
    """Insert the sweeps that have no row; a new one is due at once."""
    with connection.cursor() as cursor:
        cursor.execute(REGISTER, [list(SWEEPS)])


def claim(worker: UUID, names: Sequence[str], limit: int) -> list[Claim]:
    """Claim at most `limit` of the sweeps `names` that are due, the one that is due for longest first."""
    seconds = [SWEEPS[name].seconds if SWEEPS[name].shared else LEASE_SECONDS for name in names]
    values: dict[str, Any] = {"worker": worker, "names": list(names), "seconds": seconds, "limit": limit}
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, values)
        return [Claim(*row) for row in cursor.fetchall()]


def renew(worker: UUID, claims: Iterable[Claim]) -> int:
    """Renew the claims of sweeps that no other worker may run; return how many still are this worker's."""
    held = [each for each in claims if not SWEEPS[each.name].shared]
    if not held:
        return 0
    columns = {"names": [each.name for each in held], "starts": [each.started_at for each in held]}
    return _execute(RENEW, {"worker": worker, "seconds": LEASE_SECONDS, **columns})


def finish(worker: UUID, runs: Iterable[Run]) -> None:
    """Record runs that have ended: of each sweep the last one."""
    last = list({run.claim.name: run for run in runs}.values())
    if not last:
        return
    schedules = [SWEEPS[run.claim.name] for run in last]
    columns = {
        "names": [run.claim.name for run in last],
        "starts": [run.claim.started_at for run in last],
        "milliseconds": [run.milliseconds for run in last],
        "errors": [run.error for run in last],
        # A shared one is due again since its claim.
        "seconds": [None if schedule.shared else schedule.seconds for schedule in schedules],
    }
    _execute(FINISH, {"worker": worker, **columns})


def _execute(statement: str, values: Mapping[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.rowcount
