"""Events and notifications: every change is told, once, and nothing that was told is gone."""

from payments.invariants.invariant import Invariant


def events_of(table: str, *, model: str, prefix: str) -> Invariant:
    """The invariant that the rows of `table`, which have a `version`, wrote an event for each of their changes."""
    return Invariant(
        name=f"{table}s_have_their_events",
        sentence=f"Each {table} has one event for each of its changes, numbered from 1 without gaps.",
        model=model,
        prefix=prefix,
        # Object and sequence are the events' own index, so this reads nothing else of them.
        query=f"""
            SELECT o.id FROM {table} o LEFT JOIN event e ON e.object_id = o.id
            GROUP BY o.id, o.version
            HAVING count(e.sequence) <> o.version OR count(DISTINCT e.sequence) <> o.version
                OR min(e.sequence) IS DISTINCT FROM 1 OR max(e.sequence) <> o.version
        """,  # nosec B608 # made of constants
    )


CHARGES_HAVE_THEIR_EVENTS = events_of("charge", model="payments.Charge", prefix="ch")
REFUNDS_HAVE_THEIR_EVENTS = events_of("refund", model="payments.Refund", prefix="re")
SOURCES_HAVE_THEIR_EVENTS = events_of("source", model="payments.Source", prefix="src")
EVENTS_HAVE_THEIR_OBJECT = Invariant(
    name="events_have_their_object",
    sentence="The charge, refund or source that an event tells of is there.",
    model="payments.Event",
    prefix="evt",
    query="""
        SELECT e.id FROM event e
        LEFT JOIN (SELECT id FROM charge UNION ALL SELECT id FROM refund UNION ALL SELECT id FROM source) o
        ON o.id = e.object_id
        WHERE o.id IS NULL AND (e.type LIKE 'charge.%%' OR e.type LIKE 'refund.%%' OR e.type LIKE 'source.%%')
    """,
)
EVENTS_ARE_NOTIFIED = Invariant(
    name="events_are_notified",
    sentence="Each event of a charge or refund has its notification where the source names a URL.",
    model="payments.Event",
    prefix="evt",
    # Events from before there were notifications have none.
    query="""
        WITH told AS (SELECT id FROM source WHERE redirect ->> 'notify' <> ''),
        object AS (
            SELECT c.id FROM charge c JOIN told ON told.id = c.source_id
            UNION ALL SELECT r.id FROM refund r JOIN charge c ON c.id = r.charge_id JOIN told ON told.id = c.source_id
        )
        SELECT e.id FROM event e JOIN object ON object.id = e.object_id
        LEFT JOIN notification n ON n.event_id = e.id
        WHERE n.event_id IS NULL AND e.created_at >= coalesce((
            SELECT applied FROM django_migrations WHERE app = 'payments' AND name = '0002_notification'
        ), '-infinity')
    """,
)
INVARIANTS = (
    CHARGES_HAVE_THEIR_EVENTS,
    REFUNDS_HAVE_THEIR_EVENTS,
    SOURCES_HAVE_THEIR_EVENTS,
    EVENTS_HAVE_THEIR_OBJECT,
    EVENTS_ARE_NOTIFIED,
)
