"""What asks payers for money, links and requests that are made for a merchant, and what is done to them."""

import json
from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext_lazy as _

from customers.domain import checkout as customers
from payments.domain.charging.verbs import CAPTURE
from payments.domain.checkout import links, requests
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.domain.shared.verbs import Call, MoneyVerb, Planned, Verb
from payments.models import ApprovalRequest
from payments.rendering.objects.checkout import total_of

CREATED = 201
WRITE = "checkout:write"


def named(row: object) -> StoredAnswer:
    """Return the answer that is kept of what a call made: its ID."""
    return StoredAnswer(CREATED, json.dumps({"id": str(row)}).encode())


def _plan(caller: Caller, call: Call) -> Planned:
    if "customer" in call.body:
        customers.find(caller, call.body["customer"])
    return Planned(total_of(call.body["line_items"]), call.body["currency"].upper())


def _made_by(create: Callable[..., Result[Any]]) -> Callable[[Caller, ApprovalRequest], StoredAnswer]:
    return lambda caller, asked: create(caller, asked.merchant, asked.body, named).answer


LINK = MoneyVerb(
    "link",
    _("A payment link is made for items of {amount}. No money moves until somebody pays, and it can be deactivated."),
    right=WRITE,
    run=_made_by(links.create),
    noun=_("payment link"),
    permission="payments.add_paymentlink",
    tool="make a payment link",
    plan=_plan,
)
REQUEST = MoneyVerb(
    "request",
    _("An invoice of {amount} goes to the customer. No money moves until it is paid, and it can be voided."),
    right=WRITE,
    run=_made_by(requests.create),
    noun=_("payment request"),
    permission="payments.add_checkout",
    tool="send a payment request to a customer",
    plan=_plan,
)
EXPIRE = Verb(
    "expire",
    _("The payer's page takes no payment any more, and an event says so. Nothing is charged. This cannot be undone."),
    WRITE,
    "payments.expire_checkout",
    _("Expire"),
)
VOID_REQUEST = Verb(
    "void",
    _(
        "The customer's page says that the invoice was cancelled and takes no payment any more. An event "
        "says so, with your reason. This cannot be undone."
    ),
    WRITE,
    "payments.void_checkout",
    _("Void"),
)
RESEND = Verb(
    "resend",
    _("The customer gets the invoice again, as it was ordered: by e-mail, SMS or both."),
    WRITE,
    "payments.resend_checkout",
    _("Send again"),
)
TRY_NOW = Verb(
    "try_now",
    _("The card that the customer keeps is charged in a moment, and not on the next day of the schedule."),
    WRITE,
    # It takes money.
    CAPTURE.permission,
    _("Try now"),
)
STOP_COLLECTING = Verb(
    "stop_collecting",
    _("The card is charged no more. The invoice stays open, and the customer can pay it on its page."),
    WRITE,
    VOID_REQUEST.permission,
    _("Stop collecting"),
)
# Who may stop a link may let it sell again.
SWITCH = "payments.switch_paymentlink"
ACTIVATE = Verb("activate", _("Its page sells again, and an event says so."), WRITE, SWITCH, _("Activate"))
DEACTIVATE = Verb(
    "deactivate",
    _("Its page sells no more; payments under way can still be paid. An event says so."),
    WRITE,
    SWITCH,
    _("Deactivate"),
)
# What moves no money.
ON_CHECKOUTS = (EXPIRE, VOID_REQUEST, RESEND, ACTIVATE, DEACTIVATE)
