"""What asks payers for money: links and requests that are made for a merchant."""

import json
from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext_lazy as _

from customers.domain import checkout as customers
from payments.domain.checkout import links, requests
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.domain.shared.verbs import Call, Planned, Verb
from payments.models import ApprovalRequest
from payments.rendering.objects.checkout import total_of

CREATED = 201


def named(row: object) -> StoredAnswer:
    """Return the answer that is kept of what a call made: its ID."""
    return StoredAnswer(CREATED, json.dumps({"id": str(row)}).encode())


def _plan(caller: Caller, call: Call) -> Planned:
    if "customer" in call.body:
        customers.find(caller, call.body["customer"])
    return Planned(total_of(call.body["line_items"]), call.body["currency"].upper())


def _made_by(create: Callable[..., Result[Any]]) -> Callable[[Caller, ApprovalRequest], StoredAnswer]:
    return lambda caller, asked: create(caller, asked.merchant, asked.body, named).answer


LINK = Verb(
    "link",
    _("A payment link is made for items of {amount}. No money moves until somebody pays, and it can be deactivated."),
    run=_made_by(links.create),
    noun=_("payment link"),
    permission="payments.add_paymentlink",
    tool="make a payment link",
    plan=_plan,
)
REQUEST = Verb(
    "request",
    _("An invoice of {amount} goes to the customer. No money moves until it is paid, and it can be voided."),
    run=_made_by(requests.create),
    noun=_("payment request"),
    permission="payments.add_checkout",
    tool="send a payment request to a customer",
    plan=_plan,
)
