"""Events: one row for each change of an object, with the object as it was then, frozen to bytes.

Events of charges and refunds are sent to the notify URL of their source, and all events to each endpoint of their
merchant that lists their type, by further rows of the same statement.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from payments import clock, ids
from payments.db.writes import Insert, Write
from payments.domain.shared.caller import Caller, endpoints_of
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import (
    Charge,
    Checkout,
    Dispute,
    Event,
    Merchant,
    PaymentLink,
    Payout,
    PayoutAccount,
    Refund,
    Source,
)
from payments.rendering.objects.charges import CHARGE, REFUND
from payments.rendering.objects.checkout import SESSION
from payments.rendering.objects.disputes import DISPUTE
from payments.rendering.objects.events import EVENT, NewEvent
from payments.rendering.objects.payment_links import PAYMENT_LINK
from payments.rendering.objects.payment_requests import REQUEST
from payments.rendering.objects.payouts import PAYOUT, PAYOUT_ACCOUNT
from payments.rendering.objects.sources import SOURCE
from payments.webhooks import outbox


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of event: its meaning, and whether the notify URL of a source gets it, too.

    Existing receivers at notify URLs raise an error on any type that they do not know.
    """

    meaning: str
    notified: bool = False


# Every type of event; customers add their own.
EVENT_TYPES: dict[str, EventType] = {
    "charge.created": EventType("A charge was made.", True),
    "charge.updated": EventType("A charge changed otherwise: its payer must act, it was voided, refunded.", True),
    "charge.succeeded": EventType("The money was taken, or is held.", True),
    "charge.failed": EventType("No money will be taken: `failure_data` says why.", True),
    "charge.captured": EventType("Held money was taken.", True),
    "charge.disputed": EventType("The payer's bank disputes a charge: it asks, or has taken the money.", True),
    "refund.created": EventType("Money is on its way back.", True),
    "refund.updated": EventType("A refund has succeeded or failed.", True),
    "dispute.created": EventType("The payer's bank disputes a charge: it asks, or has taken the money."),
    "dispute.updated": EventType("A dispute has come further."),
    "dispute.closed": EventType("A dispute was won or lost; a second chargeback may open it again."),
    "payout.created": EventType("Money of your balance will be paid out."),
    "payout.updated": EventType("A payout is on its way to your bank, or its reserve was released."),
    "payout.paid": EventType("A payout has left for your bank account."),
    "payout.failed": EventType("A bank refused or returned a payout: your balance has the money again."),
    "payout.cancelled": EventType("A payout will not be sent: your balance has the money again."),
    "payout_account.created": EventType("Payouts will go to another bank account, from its `effective_at` on."),
    "payout_account.updated": EventType("A bank account was withdrawn before payouts went to it."),
    "organization.updated": EventType("An operator changed what leads your data, money or trust: `changed` names it."),
    "checkout_session.created": EventType("A checkout session was made.", True),
    "checkout_session.completed": EventType("A payer has paid a checkout session, or its amount is held.", True),
    "checkout_session.expired": EventType("A checkout session ended without a payment.", True),
    "payment_request.created": EventType("A payment request was made.", True),
    "payment_request.updated": EventType("A payment request was voided, sent again or delivered.", True),
    "payment_request.succeeded": EventType("A customer has paid a payment request.", True),
    "payment_request.failed": EventType("An attempt to pay a payment request was declined.", True),
    "payment_link.created": EventType("A payment link was made.", True),
    "payment_link.updated": EventType(
        "A payment link was changed, activated or deactivated, or its stock has changed.", True
    ),
    "source.created": EventType("A source was made.", True),
    "source.updated": EventType("A source was used, or is kept for a customer.", True),
    "source.deleted": EventType("A source that was kept for a customer was given up.", True),
    "source.expiring": EventType("A card that is kept for a customer expires within 30 days."),
}
# What events are about, by the prefix of its ID; customers add their own.
EVENT_OBJECTS: dict[str, Any] = {
    "ch": Charge,
    "re": Refund,
    "dp": Dispute,
    "po": Payout,
    "ba": PayoutAccount,
    "cs": Checkout,
    "pr": Checkout,
    "plink": PaymentLink,
    "src": Source,
    "mer": Merchant,
}
# What each event shows, by the model that it is about.
RENDERERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Charge: CHARGE.render,
    Refund: REFUND.render,
    Source: SOURCE.render,
    Dispute: DISPUTE.render,
    Payout: PAYOUT.render,
    PayoutAccount: PAYOUT_ACCOUNT.render,
    PaymentLink: PAYMENT_LINK.render,
    Checkout: lambda row: (REQUEST if row.kind == Checkout.Kind.REQUEST else SESSION).render(row),
}
# The models of what the API names otherwise, by the beginning of an event's type without underscores.
NAMED_OTHERWISE = {"organization": "merchant", "checkoutsession": "checkout", "paymentrequest": "checkout"}


def of(caller: Caller, event_type: str, row: Any) -> list[Write]:
    """Return the writes of an event that shows this object, whose model is one of RENDERERS, and of its webhooks."""
    redirect = None
    match row:
        case Charge():
            redirect = row.source.redirect
        case Refund():
            redirect = row.charge.source.redirect
    rendered = RENDERERS[type(row)](row)
    return writes_of(caller, event_type, row.id, row.version, rendered, (redirect or {}).get("notify") or "")


def is_about(event_type: str, model: Any) -> bool:
    """Return whether events of this type are about objects of `model`."""
    name = event_type.partition(".")[0].replace("_", "")
    return bool(model._meta.model_name == NAMED_OTHERWISE.get(name, name))


def writes_of(
    caller: Caller, event_type: str, object_id: UUID, sequence: int, rendered: dict[str, Any], notify_url: str = ""
) -> list[Write]:
    """Return the writes of an event that shows `rendered`, the `sequence`th of its object, and of its webhooks.

    They go to `notify_url`, if there is one and the type is notified, and to the endpoints that list it.
    """
    event = new_event(caller, event_type, object_id, sequence, rendered)
    url = notify_url if EVENT_TYPES[event_type].notified else ""
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
        request_id=ids.parse_id("req", caller.request_id),
        api_key_id=caller.key_id,
        created_at=clock.now(),
    )
    key = caller.idempotency.key if caller.idempotency else None
    event.payload = to_bytes(EVENT.render(NewEvent(event, rendered, caller.request_id or None, key)))
    return event
