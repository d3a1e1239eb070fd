"""The receivers with webhooks that are due, by one jump through the index of due webhooks for each."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from payments.models.merchants.webhook_endpoint import IS_PAUSED

# The most receivers looked at, and the most webhooks counted of each.
RECEIVERS_MAX = 1_000
COUNTED_MAX = 1_000

# The index of due webhooks begins with merchant, mode and receiver, so each step of the recursion reads one entry.
RECEIVERS = """
WITH RECURSIVE receiver AS (
    (SELECT merchant_id, livemode, receiver FROM payments_webhook
     WHERE due_at IS NOT NULL AND (%(merchants)s::uuid[] IS NULL OR merchant_id = ANY(%(merchants)s))
     ORDER BY merchant_id, livemode, receiver LIMIT 1)
    UNION ALL
    SELECT next.* FROM receiver r CROSS JOIN LATERAL (
        SELECT w.merchant_id, w.livemode, w.receiver FROM payments_webhook w
        WHERE w.due_at IS NOT NULL AND (%(merchants)s::uuid[] IS NULL OR w.merchant_id = ANY(%(merchants)s))
            AND (w.merchant_id, w.livemode, w.receiver) > (r.merchant_id, r.livemode, r.receiver)
        ORDER BY w.merchant_id, w.livemode, w.receiver LIMIT 1
    ) next
)
"""
QUEUES = f"""{RECEIVERS}SELECT r.merchant_id, r.livemode, r.receiver, queue.*
FROM (SELECT * FROM receiver LIMIT %(receivers)s) r CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE head.due_at <= statement_timestamp()) AS due, min(head.due_at) AS oldest_due_at,
        count(*) FILTER (WHERE head.failures > 0) AS failing,
        coalesce(bool_or(head.leased_until > statement_timestamp()), false) AS is_served
    FROM (
        SELECT w.due_at, w.failures, w.leased_until FROM payments_webhook w
        WHERE w.merchant_id = r.merchant_id AND w.livemode = r.livemode AND w.receiver = r.receiver
            AND w.due_at IS NOT NULL
        ORDER BY w.due_at LIMIT %(counted)s
    ) head
) queue
WHERE (queue.due > 0 OR queue.failing > 0) AND NOT {IS_PAUSED}
ORDER BY queue.oldest_due_at
"""  # nosec B608 # made of constants


@dataclass(frozen=True, slots=True)
class Queue:
    """The webhooks of one receiver that are due or failing, of each at most COUNTED_MAX counted."""

    merchant_id: UUID
    livemode: bool
    receiver: str
    due: int
    # Of the first one, which may be due later only.
    oldest_due_at: datetime
    failing: int
    # Whether a worker is sending to it.
    is_served: bool


def queues() -> list[Queue]:
    """Return the queues of at most RECEIVERS_MAX receivers, the one that is due for longest first."""
    with connection.cursor() as cursor:
        cursor.execute(QUEUES, {"merchants": None, "receivers": RECEIVERS_MAX, "counted": COUNTED_MAX})
        return [Queue(*row) for row in cursor.fetchall()]


def oldest_unserved() -> datetime | None:
    """Return since when a webhook is due that no worker has begun with.

    Receivers that fail or answer slowly keep their own webhooks waiting, so they say nothing about the workers.
    """
    waiting = (queue.oldest_due_at for queue in queues() if queue.due and not queue.failing and not queue.is_served)
    return min(waiting, default=None)
