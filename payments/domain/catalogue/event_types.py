"""The types of events, each declared once: its meaning, how `kaha trigger` makes one, how its example differs.

Document, forms, timelines, senders and the command line read this table. Other apps declare theirs (customers does).
"""

from dataclasses import dataclass
from typing import Any

from payments import models
from payments.providers.simulator.scenarios import (
    DIRECT,
    DISPUTE_LOST,
    DISPUTE_WON,
    DISPUTED,
    PLAIN_DECLINE,
    REFUNDS_WAIT,
    numbers_of,
)
from payments.rendering.objects import charges, checkout, disputes, payment_links, payment_requests, payouts, sources
from payments.rendering.objects.api_object import ApiObject
from payments.rendering.objects.events import ORGANIZATION as MERCHANT


@dataclass(frozen=True, slots=True)
class Subject:
    """What events are about: the prefix of its IDs, the model of its rows, and the object that shows one.

    `is_notified`, they are sent to the notify URL of a source, too: existing receivers there raise an error on any type
    that they do not know.
    """

    prefix: str
    model: Any
    shown: ApiObject
    is_notified: bool


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of event: its `meaning` in the reference, and what else is read of it.

    `trigger` is the flow of `kaha trigger` that makes one, with its arguments. `differs` is what its example has
    otherwise than that of its object; a member of None is left out.
    """

    about: Subject
    meaning: str
    trigger: str
    differs: dict[str, Any]
    is_notified: bool

    @property
    def example(self) -> dict[str, Any]:
        """Return the example of its object."""
        left_out = [name for name, value in self.differs.items() if value is None]
        shown = self.about.shown.example | self.differs
        return {name: value for name, value in shown.items() if name not in left_out}


# By the prefix of the ID, and by the first word of a type.
SUBJECTS: dict[str, Subject] = {}
_BY_WORD: dict[str, Subject] = {}
EVENT_TYPES: dict[str, EventType] = {}


def subject(word: str, prefix: str, model: Any, shown: ApiObject, is_notified: bool = False) -> None:
    """Declare what the types that begin with `word` are about."""
    SUBJECTS[prefix] = _BY_WORD[word] = Subject(prefix, model, shown, is_notified)


def declare(name: str, meaning: str, trigger: str, differs: dict[str, Any] | None = None) -> str:
    """Declare a type of event, and return its name."""
    about = _BY_WORD[name.partition(".")[0]]
    EVENT_TYPES[name] = EventType(about, meaning, trigger, differs or {}, about.is_notified and name not in UNKNOWN)
    return name


# Of what a notify URL gets otherwise, the types that its receivers do not know.
UNKNOWN = {"source.expiring"}
DECLINED = numbers_of(PLAIN_DECLINE)[0]
PENDING, ENDED = {"status": "pending"}, {"authorized": False}
NOT_SENT = PENDING | {"sent_at": None, "paid_at": None}
TAKEN = ENDED | {"captured": True, "amount_captured": charges.CHARGE.example["amount"]}
KEPT = {"used": True, "vaulted": True}
FAILED = ENDED | {"status": "failed", "failure_data": charges.FAILURE_DATA.example}
WON = {"status": "won", "withdrawn": False, "amount_withdrawn": 0, "fee": 0}
PAID = {"payment_status": "paid", "payment_details": charges.CHARGE.example}
BY_BANK = "The payer's bank disputes a charge: it asks, or has taken the money."

subject("charge", "ch", models.Charge, charges.CHARGE, is_notified=True)
CHARGE_CREATED = declare("charge.created", "A charge was made.", f"charge {DIRECT}", ENDED | PENDING)
CHARGE_UPDATED = declare(
    "charge.updated",
    "A charge changed otherwise: its payer must act, it was voided, refunded.",
    f"held_charge {DIRECT} void",
    ENDED | {"status": "voided"},
)
CHARGE_SUCCEEDED = declare("charge.succeeded", "The money was taken, or is held.", f"charge {DIRECT}")
CHARGE_FAILED = declare(
    "charge.failed", "No money will be taken: `failure_data` says why.", f"charge {DECLINED}", FAILED
)
CHARGE_CAPTURED = declare("charge.captured", "Held money was taken.", f"held_charge {DIRECT} capture", TAKEN)
CHARGE_DISPUTED = declare("charge.disputed", BY_BANK, f"disputed_charge {DISPUTED}", TAKEN | {"disputed": True})

subject("refund", "re", models.Refund, charges.REFUND, is_notified=True)
REFUND_CREATED = declare("refund.created", "Money is on its way back.", f"refund {DIRECT}", PENDING)
REFUND_UPDATED = declare("refund.updated", "A refund has succeeded or failed.", f"refund {REFUNDS_WAIT}")

subject("dispute", "dp", models.Dispute, disputes.DISPUTE)
DISPUTE_CREATED = declare("dispute.created", BY_BANK, f"dispute {DISPUTED}")
DISPUTE_UPDATED = declare(
    "dispute.updated", "A dispute has come further.", f"dispute {DISPUTE_WON} 1", {"status": "under_review"}
)
DISPUTE_CLOSED = declare(
    "dispute.closed",
    "A dispute was won or lost; a second chargeback may open it again.",
    f"dispute {DISPUTE_LOST} 7",
    WON,
)

subject("payout", "po", models.Payout, payouts.PAYOUT)
PAYOUT_CREATED = declare("payout.created", "Money of your balance will be paid out.", f"payout {DIRECT} 3", NOT_SENT)
PAYOUT_UPDATED = declare(
    "payout.updated",
    "A payout is on its way to your bank, or its reserve was released.",
    f"payout {DIRECT} 3",
    {"status": "in_transit", "paid_at": None},
)
PAYOUT_PAID = declare("payout.paid", "A payout has left for your bank account.", f"payout {DIRECT} 5")
PAYOUT_FAILED = declare(
    "payout.failed",
    "A bank refused or returned a payout: your balance has the money again.",
    f"payout {DIRECT} 3 payout.failed",
    {"status": "failed", "failure_code": "returned"},
)
# What came back can be paid out at once.
PAYOUT_CANCELLED = declare(
    "payout.cancelled",
    "A payout will not be sent: your balance has the money again.",
    f"payout {DIRECT} 3 {PAYOUT_FAILED} payout.cancelled",
    NOT_SENT | {"status": "cancelled"},
)

subject("payout_account", "ba", models.PayoutAccount, payouts.PAYOUT_ACCOUNT)
PAYOUT_ACCOUNT_CREATED = declare(
    "payout_account.created",
    "Payouts will go to another bank account, from its `effective_at` on.",
    "caused payout_account.created",
)
PAYOUT_ACCOUNT_UPDATED = declare(
    "payout_account.updated",
    "A bank account was withdrawn before payouts went to it.",
    "caused payout_account.updated",
    {"withdrawn_at": "2026-11-21T09:30:00.000000Z"},
)

subject("organization", "mer", models.Merchant, MERCHANT)
ORGANIZATION_UPDATED = declare(
    "organization.updated",
    "An operator changed what leads your data, money or trust: `changed` names it.",
    "organization",
)

subject("checkout_session", "cs", models.Checkout, checkout.SESSION, is_notified=True)
SESSION_CREATED = declare("checkout_session.created", "A checkout session was made.", "checkout checkout_sessions")
SESSION_COMPLETED = declare(
    "checkout_session.completed",
    "A payer has paid a checkout session, or its amount is held.",
    f"checkout checkout_sessions pay {DIRECT}",
    PAID,
)
SESSION_EXPIRED = declare(
    "checkout_session.expired",
    "A checkout session ended without a payment.",
    "checkout checkout_sessions expire",
    {"payment_status": "expired"},
)

subject("payment_request", "pr", models.Checkout, payment_requests.REQUEST, is_notified=True)
REQUEST_CREATED = declare("payment_request.created", "A payment request was made.", "checkout payment_requests")
REQUEST_UPDATED = declare(
    "payment_request.updated",
    "A payment request was voided, sent again or delivered.",
    "checkout payment_requests void",
    {"delivered": {"email": True, "sms": False}},
)
REQUEST_SUCCEEDED = declare(
    "payment_request.succeeded",
    "A customer has paid a payment request.",
    f"checkout payment_requests pay {DIRECT}",
    payment_requests.PAID,
)
REQUEST_FAILED = declare(
    "payment_request.failed",
    "An attempt to pay a payment request was declined.",
    f"checkout payment_requests pay {DECLINED}",
)

subject("payment_link", "plink", models.PaymentLink, payment_links.PAYMENT_LINK, is_notified=True)
LINK_CREATED = declare("payment_link.created", "A payment link was made.", "checkout payment_links")
LINK_UPDATED = declare(
    "payment_link.updated",
    "A payment link was changed, activated or deactivated, or its stock has changed.",
    "checkout payment_links deactivate",
    {"active": False},
)

subject("source", "src", models.Source, sources.SOURCE, is_notified=True)
SOURCE_CREATED = declare("source.created", "A source was made.", f"source {DIRECT}")
SOURCE_UPDATED = declare(
    "source.updated", "A source was used, or is kept for a customer.", f"charged_source {DIRECT}", KEPT
)
SOURCE_DELETED = declare(
    "source.deleted",
    "A source that was kept for a customer was given up.",
    f"detached_source {DIRECT}",
    KEPT | {"vaulted": False},
)
SOURCE_EXPIRING = declare(
    "source.expiring", "A card that is kept for a customer expires within 30 days.", f"expiring_source {DIRECT}", KEPT
)

# The line of a charge's timeline, for all or by the state of the object, and the lines' colours.
STORIES: dict[str, str | dict[str, str]] = {
    CHARGE_CREATED: "{merchant} asked for {amount}",
    CHARGE_UPDATED: {
        "pending": "The payment waits for the payer or the bank",
        "voided": "The payment was voided, or its hold released",
    },
    CHARGE_SUCCEEDED: "The payment was approved, and {amount} is {taken}",
    CHARGE_CAPTURED: "{captured} was captured",
    CHARGE_FAILED: "The payment did not go through: {why}",
    REFUND_CREATED: "A refund of {amount} was asked for",
    REFUND_UPDATED: {"succeeded": "{amount} was sent back", "failed": "The refund of {amount} failed"},
    DISPUTE_CREATED: "The payer's bank disputed {amount}",
    DISPUTE_UPDATED: "The dispute of {amount} came further: {state}",
    DISPUTE_CLOSED: "The dispute of {amount} ended: {state}",
}
MARKS = {
    **dict.fromkeys((CHARGE_SUCCEEDED, CHARGE_CAPTURED, REFUND_UPDATED, SESSION_COMPLETED), "good"),
    **dict.fromkeys((CHARGE_FAILED, DISPUTE_CREATED), "bad"),
    REFUND_CREATED: "warn",
    SESSION_EXPIRED: "quiet",
}
