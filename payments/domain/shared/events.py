"""Events: one row for each change of an object, with the object as it was then, frozen to bytes.

Events of charges, refunds and disputes are sent to the URL of their source, or else to the default of their merchant,
by a second row of the same statement; events of payouts, their bank accounts and the merchant itself to that default.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from payments import clock, ids
from payments.db.writes import Insert, Write
from payments.domain.shared.caller import Caller, default_url
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import Charge, Dispute, Event, Merchant, Payout, PayoutAccount, Refund, Source
from payments.rendering.objects.charges import CHARGE, REFUND
from payments.rendering.objects.disputes import DISPUTE
from payments.rendering.objects.events import EVENT, NewEvent
from payments.rendering.objects.payouts import PAYOUT, PAYOUT_ACCOUNT
from payments.rendering.objects.sources import SOURCE
from payments.webhooks import outbox

# Every type of event, and its meaning; customers add their own.
EVENT_TYPES: dict[str, str] = {
    "charge.created": "A charge was made.",
    "charge.updated": "A charge changed otherwise: its payer must act, it was voided, refunded.",
    "charge.succeeded": "The money was taken, or is held.",
    "charge.failed": "No money will be taken: `failure_data` says why.",
    "charge.captured": "Held money was taken.",
    "refund.created": "Money is on its way back.",
    "refund.updated": "A refund has succeeded or failed.",
    "dispute.created": "The payer's bank disputes a charge: it asks, or has taken the money.",
    "dispute.updated": "A dispute has come further.",
    "dispute.closed": "A dispute was won or lost; a second chargeback may open it again.",
    "payout.created": "Money of your balance will be paid out.",
    "payout.updated": "A payout is on its way to your bank, or its reserve was released.",
    "payout.paid": "A payout has left for your bank account.",
    "payout.failed": "A bank refused or returned a payout: your balance has the money again.",
    "payout.cancelled": "A payout will not be sent: your balance has the money again.",
    "payout_account.created": "Payouts will go to another bank account, from its `effective_at` on.",
    "payout_account.updated": "A bank account was withdrawn before payouts went to it.",
    "organization.updated": "An operator changed what leads your data, money or trust: `changed` names it.",
    "source.created": "A source was made.",
    "source.updated": "A source was used, or is kept for a customer.",
    "source.deleted": "A source that was kept for a customer was given up.",
}
# What events are about, by the prefix of its ID; customers add their own.
EVENT_OBJECTS: dict[str, Any] = {
    "ch": Charge,
    "re": Refund,
    "dp": Dispute,
    "po": Payout,
    "ba": PayoutAccount,
    "src": Source,
    "mer": Merchant,
}


def of(caller: Caller, event_type: str, row: Charge | Refund | Dispute | Payout | PayoutAccount) -> list[Write]:
    """Return the writes of an event that shows this object, and of its webhook where there is a URL."""
    redirect: Mapping[str, Any] | None = None
    match row:
        case Charge():
            redirect, rendered = row.source.redirect, CHARGE.render(row)
        case Refund():
            redirect, rendered = row.charge.source.redirect, REFUND.render(row)
        case Dispute():
            redirect, rendered = row.charge.source.redirect, DISPUTE.render(row)
        case Payout():
            rendered = PAYOUT.render(row)
        case PayoutAccount():
            rendered = PAYOUT_ACCOUNT.render(row)
    event = _event(caller, event_type, row.id, row.version, rendered)
    return _sent(event, (redirect or {}).get("notify") or default_url(caller))


def of_organization(caller: Caller, sequence: int, rendered: dict[str, Any]) -> list[Write]:
    """Return the writes of the `sequence`th event of this mode about the merchant itself, and of its webhook."""
    event = _event(caller, "organization.updated", caller.merchant_id, sequence, rendered)
    return _sent(event, default_url(caller))


def is_about(event_type: str, model: Any) -> bool:
    """Return whether events of this type are about objects of `model`."""
    name = event_type.partition(".")[0].replace("_", "")
    # The API names a merchant so.
    return bool(model._meta.model_name == ("merchant" if name == "organization" else name))


def of_source(caller: Caller, event_type: str, source: Source) -> Insert:
    return new_event(caller, event_type, source.id, source.version, SOURCE.render(source))


def new_event(caller: Caller, event_type: str, object_id: UUID, sequence: int, rendered: dict[str, Any]) -> Insert:
    """Return the write of an event that shows `rendered`, the `sequence`th of its object (contract, section 8)."""
    return Insert(_event(caller, event_type, object_id, sequence, rendered))


def _sent(event: Event, url: str | None) -> list[Write]:
    """Return the writes of an event, and of its webhook where there is a URL."""
    return [Insert(event), outbox.build_webhook(event, url)] if url else [Insert(event)]


def _event(caller: Caller, event_type: str, object_id: UUID, sequence: int, rendered: dict[str, Any]) -> Event:
    if event_type not in EVENT_TYPES:
        raise ValueError(f"There is no event type {event_type}.")
    event = Event(
        merchant_id=caller.merchant_id,
        livemode=caller.livemode,
        type=event_type,
        object_id=object_id,
        sequence=sequence,
        request_id=ids.parse_id("req", caller.request_id),
        api_key_id=caller.key_id,
        created_at=clock.now(),
    )
    key = caller.idempotency.key if caller.idempotency else None
    event.payload = to_bytes(EVENT.render(NewEvent(event, rendered, caller.request_id or None, key)))
    return event
