"""Which notifications a worker takes in hand, and how it puts down what became of them.

On a connection of its own, so that the database works while others are sent. Each statement is a transaction of
its own, so that none is open while anything is sent. In SQL, because the
limit for each receiver has to hold among all workers and a long queue of one receiver must not be read through to
reach the others.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import connection, transaction
from psycopg import AsyncConnection

from payments.notifications.reach import Span
from payments.steps import Step, reached

logger = logging.getLogger("kaha.notifications")

CLAIM_LIMIT = 250
# In hand for one receiver, in all workers together: enough to keep its runners busy while the books are kept.
RECEIVER_LIMIT = 400
# Time to send all of these although each try takes its longest; a worker silent for longer is taken for dead.
LEASE = timedelta(seconds=90)
# A queue is read from its head, whatever the planner believes of its length; statistics lag behind a sudden one. So
# each row is found by an index, and none by going through them all, as other joins and scans do. A plan is made for the
# bounds that are given, because one for any bounds has to lock each month.
PLANNING = {
    **dict.fromkeys(("enable_bitmapscan", "enable_seqscan", "enable_hashjoin", "enable_mergejoin"), "off"),
    **dict.fromkeys(("enable_material", "enable_sort"), "off"),
    "plan_cache_mode": "force_custom_plan",
}

# Of each receiver only the first few are looked at, and those in hand stay among them until they are put down: so a
# receiver has no more than these in hand, whoever claims. The receivers are found by jumps through the index.
# The bounds stand wherever notifications are read, so that months outside of them are not even opened.
DUE = """
WITH RECURSIVE receivers AS (
    (SELECT receiver FROM payments_notification
     WHERE due_at IS NOT NULL AND id >= %(since)s AND id < %(until)s ORDER BY receiver LIMIT 1)
    UNION ALL
    SELECT (SELECT n.receiver FROM payments_notification n
            WHERE n.due_at IS NOT NULL AND n.receiver > r.receiver AND n.id >= %(since)s AND n.id < %(until)s
            ORDER BY n.receiver LIMIT 1)
    FROM receivers r WHERE r.receiver IS NOT NULL
), due AS (
    SELECT head.* FROM receivers r CROSS JOIN LATERAL (
        SELECT n.id, n.receiver, n.tries, n.due_at, n.leased_until FROM payments_notification n
        WHERE n.receiver = r.receiver AND n.due_at <= %(now)s AND n.id >= %(since)s AND n.id < %(until)s
        ORDER BY n.due_at, n.id LIMIT %(receiver_limit)s
    ) head
    WHERE head.leased_until IS NULL OR head.leased_until <= %(now)s
    ORDER BY head.tries > 0, head.due_at LIMIT %(limit)s
)
"""

ANYTHING_DUE = f"{DUE} SELECT EXISTS (SELECT FROM due)"  # nosec B608 # no value in it

CLAIM = f"""
{DUE}, free AS (
    SELECT locked.id FROM due CROSS JOIN LATERAL (
        SELECT n.id FROM payments_notification n
        WHERE (n.receiver, n.due_at, n.id) = (due.receiver, due.due_at, due.id)
            AND n.id >= %(since)s AND n.id < %(until)s AND (n.leased_until IS NULL OR n.leased_until <= %(now)s)
        FOR UPDATE SKIP LOCKED
    ) locked
)
UPDATE payments_notification n SET leased_until = %(lease)s
WHERE n.id = ANY(ARRAY(SELECT id FROM free)) AND n.id >= %(since)s AND n.id < %(until)s
RETURNING n.id, n.event_id, n.merchant_id, n.livemode, n.receiver, n.url, (
    SELECT e.payload FROM payments_event e
    WHERE e.id = n.event_id AND e.id >= %(events_since)s AND e.id < %(until)s
), n.failures, n.first_try_at, n.leased_until
"""  # nosec B608 # no value in it

RECORD = """
WITH made AS (
    SELECT * FROM unnest(
        %b::uuid[], %b::timestamptz[], %b::timestamptz[], %b::int[], %b::int[], %b::bytea[], %b::text[], %b::text[],
        %b::text[], %b::int[], %b::timestamptz[], %b::timestamptz[]
    ) AS made (
        id, lease, started_at, milliseconds, status, answer, error, reason, state, failures, first_try_at, due_at
    )
), moved AS (
    UPDATE payments_notification n SET tries = n.tries + 1, state = made.state, failures = made.failures,
        first_try_at = made.first_try_at, due_at = made.due_at, leased_until = NULL
    FROM made WHERE n.id = made.id AND n.leased_until = made.lease
    RETURNING made.*, n.tries
)
INSERT INTO payments_notificationtry
    (notification_id, number, started_at, milliseconds, status, answer, error, reason)
SELECT id, tries, started_at, milliseconds, status, answer, error, reason FROM moved
"""

RELEASE = """
UPDATE payments_notification n SET leased_until = NULL
FROM unnest(%b::uuid[], %b::timestamptz[]) AS given (id, lease)
WHERE n.id = given.id AND n.leased_until = given.lease
"""


class Claimed(NamedTuple):
    """A notification in hand until `lease`; `payload` are the bytes to be sent."""

    id: UUID
    event_id: UUID
    merchant_id: UUID
    livemode: bool
    receiver: str
    url: str
    payload: bytes
    failures: int
    first_try_at: datetime | None
    lease: datetime


class Made(NamedTuple):
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


def anything_due(now: datetime, span: Span) -> bool:
    """Whether there is anything in `span` to claim at `now`; asked on Django's connection, which is there already."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(";".join(f"SET LOCAL {name} = {value}" for name, value in PLANNING.items()))
        cursor.execute(ANYTHING_DUE, {"now": now, "limit": 1, "receiver_limit": RECEIVER_LIMIT, **span._asdict()})
        [found] = cursor.fetchone()
        return bool(found)


async def connect() -> AsyncConnection:
    """A connection to the same database as Django's, which commits each statement.

    It does not wait for the disk: a claim or a try that a crash of the server forgets leads to a repeat.
    """
    params = connection.get_connection_params()
    for name in ("cursor_factory", "context"):
        params.pop(name)
    settings = {"synchronous_commit": "off", **PLANNING}
    options = [f"-c {name}={value}" for name, value in settings.items()]
    params["options"] = " ".join([params.get("options", ""), *options])
    return await AsyncConnection.connect(**params, autocommit=True)


async def claim(database: AsyncConnection, limit: int, now: datetime, span: Span) -> list[Claimed]:
    """Takes at most `limit` notifications of `span` that are due at `now` in hand, first tries before others."""
    params = {"now": now, "lease": now + LEASE, "limit": limit, "receiver_limit": RECEIVER_LIMIT, **span._asdict()}
    cursor = await database.execute(CLAIM, params, binary=True)
    return [Claimed(*row) for row in await cursor.fetchall()]


async def record(database: AsyncConnection, tries: Sequence[Made]) -> None:
    """Puts `tries` down. One whose lease was over meanwhile is dropped, for somebody else has it in hand."""
    if not tries:
        return
    columns = [list(column) for column in zip(*tries, strict=True)]
    reached(Step.SENT)
    cursor = await database.execute(RECORD, columns)
    reached(Step.PUT_DOWN)
    if cursor.rowcount < len(tries):
        logger.warning("tries came too late to be recorded", extra={"count": len(tries) - cursor.rowcount})


async def release(database: AsyncConnection, batch: Sequence[Claimed]) -> None:
    """Gives back what was claimed and never begun, to whoever claims it next."""
    if batch:
        await database.execute(RELEASE, [[claimed.id for claimed in batch], [claimed.lease for claimed in batch]])
