"""Which notifications a worker takes in hand, and how it puts down what became of them.

Two statements, each a transaction of its own, so that none is open while anything is sent. In SQL, because the
limit for each receiver has to hold among all workers and a long queue of one receiver must not be read through to
reach the others.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection

logger = logging.getLogger("kaha.notifications")

# Tries under way to one receiver, in all workers together.
RECEIVER_LIMIT = 20
# Longer than a try can take, with time to put it down; a worker silent for longer is taken for dead.
LEASE = timedelta(seconds=30)

# Only the first rows of each receiver are looked at, and those in hand stay among them until they are put down: so
# no receiver ever has more than that many in hand. The names of receivers are reached by jumps through the index.
CLAIM = """
WITH RECURSIVE receivers AS (
    (SELECT receiver FROM payments_notification WHERE due_at IS NOT NULL ORDER BY receiver LIMIT 1)
    UNION ALL
    SELECT (SELECT n.receiver FROM payments_notification n WHERE n.due_at IS NOT NULL AND n.receiver > r.receiver
            ORDER BY n.receiver LIMIT 1)
    FROM receivers r WHERE r.receiver IS NOT NULL
), due AS (
    SELECT head.id FROM receivers r CROSS JOIN LATERAL (
        SELECT n.id, n.tries, n.due_at, n.leased_until FROM payments_notification n
        WHERE n.receiver = r.receiver AND n.due_at <= %(now)s ORDER BY n.due_at LIMIT %(receiver_limit)s
    ) head
    WHERE head.leased_until IS NULL OR head.leased_until <= %(now)s
    ORDER BY head.tries > 0, head.due_at LIMIT %(limit)s
), free AS (
    SELECT id FROM payments_notification
    WHERE id IN (SELECT id FROM due) AND due_at <= %(now)s AND (leased_until IS NULL OR leased_until <= %(now)s)
    FOR UPDATE SKIP LOCKED
)
UPDATE payments_notification n SET leased_until = %(lease)s
FROM free, payments_event e WHERE n.id = free.id AND e.id = n.event_id
RETURNING n.id, n.event_id, n.merchant_id, n.livemode, n.url, e.payload, n.failures, n.first_try_at, n.leased_until
"""

RECORD = """
WITH made AS (
    SELECT * FROM unnest(
        %s::uuid[], %s::timestamptz[], %s::timestamptz[], %s::int[], %s::int[], %s::bytea[], %s::text[], %s::text[],
        %s::text[], %s::int[], %s::timestamptz[], %s::timestamptz[]
    ) AS made (
        id, lease, started_at, milliseconds, status, answer, error, reason, state, failures, first_try_at, due_at
    )
), moved AS (
    UPDATE payments_notification n SET tries = n.tries + 1, state = made.state, failures = made.failures,
        first_try_at = made.first_try_at, due_at = made.due_at, leased_until = NULL
    FROM made WHERE n.id = made.id AND n.leased_until = made.lease
    RETURNING n.id, n.tries
)
INSERT INTO payments_notificationtry
    (notification_id, number, started_at, milliseconds, status, answer, error, reason)
SELECT id, moved.tries, started_at, milliseconds, status, answer, error, reason FROM moved JOIN made USING (id)
"""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A notification in hand until `lease`; `payload` are the bytes to be sent."""

    id: UUID
    event_id: UUID
    merchant_id: UUID
    livemode: bool
    url: str
    payload: bytes = field(repr=False)
    failures: int
    first_try_at: datetime | None
    lease: datetime


@dataclass(frozen=True, slots=True)
class Made:
    """A try that was made, and how its notification stands after it."""

    id: UUID
    lease: datetime
    started_at: datetime
    milliseconds: int
    status: int | None
    answer: bytes
    error: str
    reason: str
    state: str
    failures: int
    first_try_at: datetime
    due_at: datetime | None

    def as_row(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)


def claim(limit: int, now: datetime) -> list[Claimed]:
    """Takes at most `limit` notifications that are due at `now` in hand, first tries before others."""
    params: dict[str, datetime | int] = {"now": now, "lease": now + LEASE, "limit": limit, "receiver_limit": RECEIVER_LIMIT}
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, params)
        return [Claimed(*row) for row in cursor.fetchall()]


def record(tries: Sequence[Made]) -> None:
    """Puts `tries` down. One whose lease was over meanwhile is dropped, for somebody else has it in hand."""
    if not tries:
        return
    columns = [list(column) for column in zip(*(made.as_row() for made in tries), strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(RECORD, columns)
        if cursor.rowcount < len(tries):
            logger.warning("tries came too late to be recorded", extra={"count": len(tries) - cursor.rowcount})
