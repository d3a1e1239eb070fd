"""Events: one row for each change of an object, with the object as it was then, frozen to bytes.

Events of charges and refunds are sent to the notify URL of their source, and all events to each endpoint of their
merchant that lists their type, by further rows of the same statement.
"""

from collections.abc import Callable
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

# Every type of event, and its meaning; customers add their own.
EVENT_TYPES: dict[str, str] = {
    "charge.created": "A charge was made.",
    "charge.updated": "A charge changed otherwise: its payer must act, it was voided, refunded.",
    "charge.succeeded": "The money was taken, or is held.",
    "charge.failed": "No money will be taken: `failure_data` says why.",
    "charge.captured": "Held money was taken.",
    "charge.disputed": "The payer's bank disputes a charge: it asks, or has taken the money.",
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
    "checkout_session.created": "A checkout session was made.",
    "checkout_session.completed": "A payer has paid a checkout session, or its amount is held.",
    "checkout_session.expired": "A checkout session ended without a payment.",
    "payment_request.created": "A payment request was made.",
    "payment_request.updated": "A payment request was voided, sent again or delivered.",
    "payment_request.succeeded": "A customer has paid a payment request.",
    "payment_request.failed": "An attempt to pay a payment request was declined.",
    "payment_link.created": "A payment link was made.",
    "payment_link.updated": "A payment link was changed, activated or deactivated, or its stock has changed.",
    "source.created": "A source was made.",
    "source.updated": "A source was used, or is kept for a customer.",
    "source.deleted": "A source that was kept for a customer was given up.",
    "source.expiring": "A card that is kept for a customer expires within 30 days.",
}
# What the notify URL of a source may get, because existing receivers raise an error on any other type.
NOTIFY_TYPES = frozenset(
    [
        *("charge.created", "charge.updated", "charge.succeeded", "charge.failed", "charge.captured"),
        *("charge.disputed", "refund.created", "refund.updated"),
        *("customer.created", "customer.updated", "customer.deleted"),
        *("source.created", "source.updated", "source.deleted"),
        *("checkout_session.created", "checkout_session.completed", "checkout_session.expired"),
        *("payment_request.created", "payment_request.updated", "payment_request.succeeded", "payment_request.failed"),
        *("payment_link.created", "payment_link.updated"),
    ]
)
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

    They go to `notify_url`, if there is one and the type is one of NOTIFY_TYPES, and to the endpoints that list it.
    """
    event = new_event(caller, event_type, object_id, sequence, rendered)
    url = notify_url if event_type in NOTIFY_TYPES else ""
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
