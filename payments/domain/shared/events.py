"""Events: one row for each change of an object, with the object as it was then, frozen to bytes.

Events of charges and refunds are sent to the notify URL of their source, and all events to each endpoint of their
merchant that lists their type, by further rows of the same statement.
"""

from typing import Any
from uuid import UUID

from payments import clock, ids
from payments.db.writes import Insert, Write
from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.domain.shared.caller import Caller, endpoints_of
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import Charge, Event, Refund
from payments.rendering.objects.events import EVENT, NewEvent
from payments.webhooks import outbox


def of(caller: Caller, event_type: str, row: Any) -> list[Write]:
    """Return the writes of an event that shows this object, and of its webhooks."""
    redirect = None
    match row:
        case Charge():
            redirect = row.source.redirect
        case Refund():
            redirect = row.charge.source.redirect
    rendered = EVENT_TYPES[event_type].about.shown.render(row)
    return writes_of(caller, event_type, row.id, row.version, rendered, (redirect or {}).get("notify") or "")


def writes_of(
    caller: Caller, event_type: str, object_id: UUID, sequence: int, rendered: dict[str, Any], notify_url: str = ""
) -> list[Write]:
    """Return the writes of an event that shows `rendered`, the `sequence`th of its object, and of its webhooks.

    They go to `notify_url`, if there is one and the type is notified, and to the endpoints that list it.
    """
    event = new_event(caller, event_type, object_id, sequence, rendered)
    url = notify_url if EVENT_TYPES[event_type].is_notified else ""
    return [Insert(event), *outbox.build_webhooks(event, url, endpoints_of(caller))]


def new_event(caller: Caller, event_type: str, object_id: UUID, sequence: int, rendered: dict[str, Any]) -> Event:
    """Return an unsaved event that shows `rendered`, the `sequence`th of its object (contract, section 8)."""
    if event_type not in EVENT_TYPES:
        raise ValueError(f"There is no event type {event_type}.")
    event = Event(
        merchant_id=caller.merchant_id,
        livemode=caller.livemode,
        type=event_type,
        object_id=object_id,
        sequence=sequence,
        request_id=ids.parse_id("req", caller.request.id),
        api_key_id=caller.key_id,
        created_at=clock.now(),
    )
    key = caller.request.idempotency.key if caller.request.idempotency else None
    event.payload = to_bytes(EVENT.render(NewEvent(event, rendered, caller.request.id or None, key)))
    return event
