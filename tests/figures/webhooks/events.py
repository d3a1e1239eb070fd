"""Events that wait to be sent, made in bulk: as many rows as wanted, without a charge for each."""

from datetime import datetime

from payments.domain.merchants.merchants import create_merchant
from payments.ids import new_id, public_id
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import Event, Merchant, Webhook
from payments.webhooks.outbox import build_webhook

# About what an event of a charge weighs.
PAYLOAD_BYTES = 1200


def new_merchant() -> Merchant:
    """Return a new merchant with secrets in both modes."""
    return create_merchant("Sari Store").merchant


def put_events(merchant: Merchant, url: str, count: int, at: datetime) -> list[str]:
    """Write `count` events of `merchant` in test mode as of `at`, to be sent to `url`; return their public IDs."""
    events = [_event(merchant, at) for _ in range(count)]
    webhooks = [build_webhook(event, url).row for event in events]
    Event.objects.bulk_create(events, batch_size=1000)
    Webhook.objects.bulk_create([row for row in webhooks if isinstance(row, Webhook)], batch_size=1000)
    return [public_id("evt", event.id) for event in events]


def _event(merchant: Merchant, at: datetime) -> Event:
    event = Event(
        merchant=merchant, livemode=False, type="charge.succeeded", object_id=new_id(), sequence=1, created_at=at
    )
    body = {"id": public_id("evt", event.id), "object": "event", "type": event.type, "sequence": 1, "data": {}}
    event.payload = to_bytes({**body, "filler": "x" * (PAYLOAD_BYTES - len(to_bytes(body)) - 13)})
    return event
