"""Claims of due webhooks by workers, and the records of their attempts.

On a connection of its own, so that the database works while others are sent. Each statement is a transaction of its
own, so that none is open while anything is sent. In SQL, because the limits for each merchant and receiver have to hold
among all workers, and a long queue of one must not be read through to reach the others.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from psycopg import AsyncConnection

from payments.failpoints import Failpoint, reached
from payments.json_codecs.compression import expand
from payments.models.merchants.webhook_endpoint import CURRENT_URL, IS_PAUSED
from payments.webhooks.claim_connection import PLAN_LOCALLY, planned
from payments.webhooks.scan_window import Span

logger = logging.getLogger("kaha.webhooks")

CLAIM_LIMIT = 250
# Claimed for one receiver by all workers together: enough to keep its runners busy while attempts are recorded.
RECEIVER_LIMIT = 400
# Claimed for one merchant in one mode, by all workers together, divided among its receivers that have something due.
MERCHANT_LIMIT = 1000
# Claimed for one receiver whose last attempt was slow, which gets few places.
SLOW_RECEIVER_LIMIT = 4
# How many receivers of one merchant a claim looks at; the next claim continues behind them.
WINDOW = 250
# Time to send all of these although each try takes its longest; a worker that is silent for longer counts as dead.
LEASE = timedelta(seconds=90)

# Merchants first: each, in each mode, is found by a jump through the index, and by further jumps some of its receivers.
# Of each receiver only the first few are looked at, and claimed ones stay among them until they are recorded: so
# neither a receiver nor a merchant has more than these claimed, by any number of workers. Slow receivers come last.
# Each jump asks for the order of the index of what is due, because others hold what is done too.
# The bounds stand wherever webhooks are read, so that months outside of them are not even opened.
DUE = f"""
WITH RECURSIVE merchants AS (
    (SELECT merchant_id, livemode FROM payments_webhook
     WHERE due_at IS NOT NULL AND id >= %(since)s AND id < %(until)s
     ORDER BY merchant_id, livemode, receiver LIMIT 1)
    UNION ALL
    SELECT following.* FROM merchants m CROSS JOIN LATERAL (
        SELECT n.merchant_id, n.livemode FROM payments_webhook n
        WHERE n.due_at IS NOT NULL AND (n.merchant_id, n.livemode) > (m.merchant_id, m.livemode)
            AND n.id >= %(since)s AND n.id < %(until)s
        ORDER BY n.merchant_id, n.livemode, n.receiver LIMIT 1
    ) following
), receivers AS (
    SELECT m.merchant_id, m.livemode, found.receiver, found.due_at, (m.merchant_id, m.livemode, found.receiver) IN (
        SELECT * FROM unnest(%(slow_merchants)s::uuid[], %(slow_modes)s::boolean[], %(slow_receivers)s::text[])
    ) AS slow
    FROM merchants m CROSS JOIN LATERAL (
        WITH RECURSIVE jumps AS (
            (SELECT n.receiver, n.due_at, 1 AS number FROM payments_webhook n
             WHERE n.merchant_id = m.merchant_id AND n.livemode = m.livemode AND n.due_at IS NOT NULL
                 AND n.receiver > coalesce((
                     SELECT receiver FROM unnest(
                         %(after_merchants)s::uuid[], %(after_modes)s::boolean[], %(after_receivers)s::text[]
                     ) AS visited (merchant_id, livemode, receiver)
                     WHERE (visited.merchant_id, visited.livemode) = (m.merchant_id, m.livemode)
                 ), '') AND n.id >= %(since)s AND n.id < %(until)s
             ORDER BY n.receiver, n.due_at LIMIT 1)
            UNION ALL
            SELECT following.*, j.number + 1 FROM jumps j CROSS JOIN LATERAL (
                SELECT n.receiver, n.due_at FROM payments_webhook n
                WHERE n.merchant_id = m.merchant_id AND n.livemode = m.livemode AND n.due_at IS NOT NULL
                    AND n.receiver > j.receiver AND n.id >= %(since)s AND n.id < %(until)s
                ORDER BY n.receiver, n.due_at LIMIT 1
            ) following WHERE j.number < %(window)s
        )
        SELECT receiver, due_at FROM jumps
    ) found
), wanted AS (
    SELECT r.merchant_id, r.livemode, r.receiver, r.slow, CASE
        WHEN slow THEN %(slow_receiver_limit)s
        ELSE least(%(receiver_limit)s, %(merchant_limit)s / count(*) OVER (PARTITION BY merchant_id, livemode, slow))
    END AS receiver_limit
    FROM receivers r
    WHERE r.due_at <= %(now)s AND (r.merchant_id, r.livemode, r.slow) NOT IN (
        SELECT * FROM unnest(%(full_merchants)s::uuid[], %(full_modes)s::boolean[], %(full_slow)s::boolean[])
    ) AND NOT {IS_PAUSED}
), due AS (
    SELECT head.*, row_number() OVER (
        PARTITION BY head.merchant_id, head.livemode ORDER BY w.slow, head.tries > 0, head.number, head.due_at
    ) AS turn
    FROM wanted w CROSS JOIN LATERAL (
        SELECT n.id, n.merchant_id, n.livemode, n.receiver, n.tries, n.due_at, n.leased_until,
            row_number() OVER (ORDER BY n.due_at, n.id) AS number
        FROM payments_webhook n
        WHERE n.merchant_id = w.merchant_id AND n.livemode = w.livemode AND n.receiver = w.receiver
            AND n.due_at <= %(now)s AND n.id >= %(since)s AND n.id < %(until)s
        ORDER BY n.due_at, n.id LIMIT w.receiver_limit
    ) head
    WHERE head.leased_until IS NULL OR head.leased_until <= %(now)s
    ORDER BY w.slow, head.tries > 0, turn, head.due_at LIMIT %(limit)s
), windows AS (
    SELECT merchant_id, livemode, max(receiver) AS receiver FROM receivers
    GROUP BY merchant_id, livemode HAVING count(*) >= %(window)s
)
"""  # nosec B608 # no value in it

ANYTHING_DUE = f"{DUE} SELECT EXISTS (SELECT FROM due) OR EXISTS (SELECT FROM windows)"  # nosec B608 # no value in it

CLAIM = f"""
{DUE}, free AS (
    SELECT locked.id FROM due CROSS JOIN LATERAL (
        SELECT n.id FROM payments_webhook n
        WHERE (n.merchant_id, n.livemode, n.receiver, n.due_at, n.id)
                = (due.merchant_id, due.livemode, due.receiver, due.due_at, due.id)
            AND n.id >= %(since)s AND n.id < %(until)s AND (n.leased_until IS NULL OR n.leased_until <= %(now)s)
        FOR UPDATE SKIP LOCKED
    ) locked
), taken AS (
    UPDATE payments_webhook n SET leased_until = %(lease)s, url = coalesce({CURRENT_URL}, n.url)
    WHERE n.id = ANY(ARRAY(SELECT id FROM free)) AND n.id >= %(since)s AND n.id < %(until)s
    RETURNING n.id, n.event_id, n.merchant_id, n.livemode, n.endpoint_id, n.receiver, {CURRENT_URL}, (
        SELECT e.payload FROM payments_event e
        WHERE e.id = n.event_id AND e.id >= %(since)s AND e.id < %(until)s
    ), n.failures, n.first_try_at, n.leased_until
)
SELECT * FROM taken
UNION ALL SELECT NULL, NULL, merchant_id, livemode, NULL, receiver, NULL, NULL, NULL, NULL, NULL FROM windows
"""  # nosec B608 # no value in it

# An endpoint's row changes only where its attempts begin or cease to fail, and by all workers in one order.
RECORD = """
WITH made AS (
    SELECT * FROM unnest(
        %b::uuid[], %b::timestamptz[], %b::timestamptz[], %b::int[], %b::int[], %b::text[], %b::bytea[], %b::text[],
        %b::text[], %b::text[], %b::int[], %b::timestamptz[], %b::timestamptz[]
    ) AS made (
        id, lease, started_at, milliseconds, status, headers, answer, error, reason, state, failures, first_try_at,
        due_at
    )
), moved AS (
    UPDATE payments_webhook n SET tries = n.tries + 1, state = made.state, failures = made.failures,
        first_try_at = made.first_try_at, due_at = made.due_at, leased_until = NULL
    FROM made WHERE n.id = made.id AND n.leased_until = made.lease
    RETURNING made.*, n.merchant_id, n.tries, n.endpoint_id
), ended AS (
    SELECT endpoint_id, bool_or(state = 'delivered') AS delivered, min(started_at) AS since
    FROM moved WHERE endpoint_id IS NOT NULL AND state <> 'cancelled' GROUP BY endpoint_id
), changed AS (
    SELECT w.id, CASE WHEN NOT ended.delivered THEN ended.since END AS failing_since
    FROM ended JOIN payments_webhookendpoint w ON w.id = ended.endpoint_id
    WHERE (w.failing_since IS NOT NULL) = ended.delivered
    ORDER BY w.id FOR NO KEY UPDATE OF w
), noted AS (
    UPDATE payments_webhookendpoint w SET failing_since = changed.failing_since FROM changed WHERE w.id = changed.id
)
INSERT INTO payments_webhookattempt
    (webhook_id, merchant_id, number, started_at, milliseconds, status, headers, answer, error, reason)
SELECT id, merchant_id, tries, started_at, milliseconds, status, headers, answer, error, reason FROM moved
"""

RELEASE = """
UPDATE payments_webhook n SET leased_until = NULL
FROM unnest(%b::uuid[], %b::timestamptz[]) AS given (id, lease)
WHERE n.id = given.id AND n.leased_until = given.lease
"""


# A merchant in one mode, and a receiver as this merchant names it: how slow one merchant's URL is there does not change
# what another merchant gets.
Owner = tuple[UUID, bool]
ReceiverKey = tuple[UUID, bool, str]


class Claimed(NamedTuple):
    """A webhook claimed until `lease`; `payload` are the bytes to be sent.

    It has no `url` where its endpoint was disabled or deleted, and is cancelled then.
    """

    id: UUID
    event_id: UUID
    merchant_id: UUID
    livemode: bool
    endpoint_id: UUID | None
    receiver: str
    url: str | None
    payload: bytes
    failures: int
    first_try_at: datetime | None
    lease: datetime


class MerchantShare(NamedTuple):
    """A merchant's claimed webhooks in one mode, to fast receivers or to slow ones."""

    merchant_id: UUID
    livemode: bool
    slow: bool


class Shares(NamedTuple):
    """What a worker knows when it claims: how much room it has, whose share is `full`, which receivers are `slow`."""

    room: int
    slow_room: bool
    full: Sequence[MerchantShare]
    slow: Sequence[ReceiverKey]


class Claims(NamedTuple):
    """The claimed webhooks; and for merchants with many receivers, the one behind which the next claim continues."""

    batch: list[Claimed]
    windows: dict[Owner, str]


NOTHING_CLAIMED = Shares(CLAIM_LIMIT, slow_room=True, full=(), slow=())


class FinishedAttempt(NamedTuple):
    """An attempt that was made, and its webhook's new state."""

    id: UUID
    lease: datetime
    started_at: datetime
    milliseconds: int
    status: int | None
    headers: str
    answer: bytes
    error: str
    reason: str
    state: str
    failures: int
    first_try_at: datetime
    due_at: datetime | None


def anything_due(now: datetime, span: Span) -> bool:
    """Whether there may be anything in `span` to claim at `now`; asked on the connection that Django has already."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(PLAN_LOCALLY)
        cursor.execute(ANYTHING_DUE, parameters(1, now, span, NOTHING_CLAIMED, {}))
        [found] = cursor.fetchone()
        return bool(found)


async def claim(
    database: AsyncConnection, limit: int, now: datetime, span: Span, shares: Shares, after: Mapping[Owner, str]
) -> Claims:
    """Claim at most `limit` webhooks of `span` that are due at `now`, first attempts before others.

    Of the merchants in `after` the receivers behind the one given there are looked at.
    """
    params = parameters(limit, now, span, shares, after) | {"lease": now + LEASE}
    async with planned(database):
        cursor = await database.execute(CLAIM, params, binary=True)
    rows = [Claimed(*row) for row in await cursor.fetchall()]
    windows = {(row.merchant_id, row.livemode): row.receiver for row in rows if row.id is None}
    return Claims([row._replace(payload=expand(row.payload)) for row in rows if row.id is not None], windows)


def parameters(limit: int, now: datetime, span: Span, shares: Shares, after: Mapping[Owner, str]) -> dict[str, Any]:
    """Return what DUE asks for."""
    slow, full, visited = _columns(shares.slow), _columns(shares.full), _columns([(*o, r) for o, r in after.items()])
    return {
        "now": now,
        "limit": limit,
        "receiver_limit": RECEIVER_LIMIT,
        "merchant_limit": MERCHANT_LIMIT,
        "slow_receiver_limit": SLOW_RECEIVER_LIMIT if shares.slow_room else 0,
        "window": WINDOW,
        **dict(zip(("slow_merchants", "slow_modes", "slow_receivers"), slow, strict=True)),
        **dict(zip(("full_merchants", "full_modes", "full_slow"), full, strict=True)),
        **dict(zip(("after_merchants", "after_modes", "after_receivers"), visited, strict=True)),
        **span._asdict(),
    }


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[], [], []]


async def record(database: AsyncConnection, tries: Sequence[FinishedAttempt]) -> None:
    """Record `tries`. Drop one whose lease has expired, because another worker may hold it."""
    if not tries:
        return
    columns = [list(column) for column in zip(*tries, strict=True)]
    reached(Failpoint.SENT)
    async with planned(database):
        cursor = await database.execute(RECORD, columns)
    reached(Failpoint.DELIVERY_RECORDED)
    if cursor.rowcount < len(tries):
        logger.warning("webhook attempts ended too late to be recorded", extra={"count": len(tries) - cursor.rowcount})


async def release(database: AsyncConnection, batch: Sequence[Claimed]) -> None:
    """Release claimed webhooks that were not begun, for the next claim."""
    if batch:
        async with planned(database):
            await database.execute(RELEASE, [[claimed.id for claimed in batch], [claimed.lease for claimed in batch]])
