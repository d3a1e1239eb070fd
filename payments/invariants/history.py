"""Invariants of events and webhooks: each change has one event, and none is missing."""

from payments.invariants.invariant import Invariant


def events_of(table: str, *, model: str, condition: str = "true") -> Invariant:
    """Return the invariant that the rows of `table`, which have a `version`, have an event for each change; `condition`
    is that of the rows `o` that have events.
    """
    return Invariant(
        name=f"{table}s_have_their_events",
        sentence=f"Each {table} has one event for each of its changes, without gaps, from 1 or the oldest month kept.",
        model=model,
        # This reads the index on object and sequence only. A row older than the retained months may have lost its
        # first events, or all of them.
        query=f"""
            SELECT id FROM (
                SELECT o.id, o.version, count(e.sequence) AS events, count(DISTINCT e.sequence) AS numbers,
                    min(e.sequence) AS first, max(e.sequence) AS last,
                    CASE WHEN o.id >= (SELECT id FROM kept) THEN 1 ELSE min(e.sequence) END AS first_kept
                FROM {table} o LEFT JOIN event e ON e.object_id = o.id WHERE {condition} GROUP BY o.id, o.version
            ) counted
            WHERE events <> version - first_kept + 1 OR numbers <> events
                OR first IS DISTINCT FROM first_kept OR last <> version
        """,  # nosec B608 # made of constants
    )


EVENTS_ARE_NOTIFIED = Invariant(
    name="events_are_notified",
    sentence="Each event of a charge or refund has its webhook to the notify URL where the source names one.",
    model="payments.Event",
    # Events older than the retained months may have lost it.
    query="""
        WITH receiver AS (SELECT id FROM source WHERE redirect ->> 'notify' <> ''),
        object AS (
            SELECT c.id FROM charge c JOIN receiver s ON s.id = c.source_id
            UNION ALL
            SELECT r.id FROM refund r JOIN charge c ON c.id = r.charge_id JOIN receiver s ON s.id = c.source_id
        )
        SELECT e.id FROM event e JOIN object ON object.id = e.object_id
        LEFT JOIN webhook n ON n.event_id = e.id AND n.endpoint_id IS NULL
        WHERE n.event_id IS NULL AND e.id >= (SELECT id FROM kept)
    """,
)

INVARIANTS = (
    events_of("charge", model="payments.Charge"),
    events_of("refund", model="payments.Refund"),
    events_of("dispute", model="payments.Dispute"),
    events_of("source", model="payments.Source"),
    Invariant(
        name="events_have_their_object",
        sentence="The object of each event exists: charge, refund, dispute, payout, source, merchant and so on.",
        model="payments.Event",
        query="""
            SELECT e.id FROM event e
            LEFT JOIN (
                SELECT id FROM charge UNION ALL SELECT id FROM refund UNION ALL SELECT id FROM dispute
                UNION ALL SELECT id FROM payout UNION ALL SELECT id FROM payments_payoutaccount
                UNION ALL SELECT id FROM source UNION ALL SELECT id FROM payments_merchant
                UNION ALL SELECT id FROM checkout UNION ALL SELECT id FROM payment_link
            ) o ON o.id = e.object_id
            WHERE o.id IS NULL AND split_part(e.type, '.', 1) IN (
                'charge', 'refund', 'dispute', 'payout', 'payout_account', 'source', 'organization',
                'checkout_session', 'payment_request', 'payment_link'
            )
        """,
    ),
    EVENTS_ARE_NOTIFIED,
    Invariant(
        name="months_are_ahead",
        sentence="The partitions for next month's events, webhooks and webhook attempts exist.",
        model="payments.Event",
        prefix="",
        # The first ID without a partition, of each table whose partitions end before the next month does.
        query="""
            SELECT bound::uuid AS id FROM (
                SELECT max(substring(pg_get_expr(relpartbound, oid) FROM 'TO [(]''([0-9a-f-]+)''[)]')) AS bound
                FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent IN (
                    'payments_event'::regclass, 'payments_webhook'::regclass, 'payments_webhookattempt'::regclass
                ) GROUP BY inhparent
            ) months
            WHERE bound::uuid < rpad(lpad(to_hex((
                extract(epoch FROM date_trunc('month', now(), 'UTC') + interval '2 months') * 1000
            )::bigint), 12, '0'), 32, '0')::uuid
        """,
        of_merchants=False,
    ),
)
