"""Messages about payment requests, and about payments by request or link that were declined."""

from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _

from payments import clock
from payments.db.writes import Insert, Write, execute_writes
from payments.domain.catalogue.event_types import REQUEST_UPDATED
from payments.domain.messages import outbox
from payments.domain.messages.content import Content, items_of, one_line
from payments.domain.messages.receipts import sends_receipts
from payments.domain.shared.caller import Caller
from payments.domain.shared.checkout_changes import change, change_request
from payments.models import Checkout, PayerMessage, PaymentRequest
from payments.money import shown_amount
from payments.rendering.objects.checkout import payment_url

INVOICE, REMINDER, FAILURE = "request", "request_reminder", "payment_failed"
# Of one checkout: a payer sees later ones on the page, and anybody may have typed the address.
FAILURES_MAX = 3
# When an open request is reminded of: after its creation, and after the reminder before was sent.
REMINDERS = (timedelta(days=3), timedelta(days=4))
Channel, State = PayerMessage.Channel, Checkout.State


def invoices_of(checkout: Checkout, kind: str, sequence: int) -> list[Insert]:
    """Return the messages, of `kind` INVOICE or REMINDER, that announce a request to its customer: one for each way
    that was asked for, if this installation has it.
    """
    ways = [way for way in checkout.order["delivery_methods"] if outbox.is_ready(checkout.livemode, way)]
    return [_message(checkout, kind, sequence, way) for way in ways]


def failure_of(caller: Caller, checkout: Checkout) -> list[Write]:
    """Return the message that an attempt was declined; none for a session, whose shop informs its payer."""
    is_mailed = checkout.kind != Checkout.Kind.SESSION and checkout.attempts <= FAILURES_MAX and _email_of(checkout)
    return failure_message(checkout) if is_mailed and sends_receipts(caller) else []


def failure_message(checkout: Checkout) -> list[Write]:
    """Return the message that the last attempt was declined, if this installation sends e-mail."""
    is_ready = outbox.is_ready(checkout.livemode, Channel.EMAIL)
    return [_message(checkout, FAILURE, checkout.attempts, Channel.EMAIL)] if is_ready else []


def reminded(request: PaymentRequest) -> dict[str, Any]:
    """Return the columns by which a reminder of a request is behind it; another is counted from now.

    Two would leave together after an outage otherwise.
    """
    number = request.reminders + 1
    is_last = number == len(REMINDERS)
    return {"reminders": number, "remind_at": None if is_last else clock.now() + REMINDERS[number]}


def invoice(checkout: Checkout, message: PayerMessage) -> Content | None:
    """Return what the message about a request, or its reminder, says; None once it is paid or voided."""
    if checkout.state not in (State.UNPAID, State.PAYING) or checkout.merchant.is_closed:
        return None
    order = checkout.order
    return Content(
        checkout.merchant,
        _email_of(checkout) if message.channel == Channel.EMAIL else order["customer_phone"],
        shown_amount(checkout.amount, checkout.currency),
        payment_url(checkout),
        items=items_of(order, checkout.currency),
        values={
            "number": checkout.request.number,
            "name": one_line(checkout.addressee),
            "message": order.get("message") or "",
        },
    )


def failure(checkout: Checkout, message: PayerMessage) -> Content | None:
    """Return what the message about a declined attempt says; None once the payer has paid, pays again or cannot."""
    if checkout.state != State.UNPAID or checkout.merchant.is_closed:
        return None
    order = ", ".join(item["name"] for item in checkout.order["line_items"])[:255]
    amount = shown_amount(checkout.amount, checkout.currency)
    return Content(checkout.merchant, _email_of(checkout), amount, payment_url(checkout), facts=[(_("Order"), order)])


def invoice_delivered(message: PayerMessage) -> None:
    """Record that the message about a request was taken, with an event; nothing is new where one was before."""
    rows = Checkout.objects.whole(message.merchant_id).select_for_update(of=("self",), no_key=True)
    checkout = rows.get(merchant_id=message.merchant_id, id=message.about_id)
    name = f"{message.channel}_delivered"
    if not getattr(checkout.request, name):
        caller = Caller(checkout.merchant_id, checkout.livemode)
        delivered = change_request(checkout, **{name: True})
        execute_writes(delivered, *change(caller, checkout, REQUEST_UPDATED))


def _message(checkout: Checkout, kind: str, sequence: int, channel: str) -> Insert:
    locale = checkout.order.get("locale") or "en"
    owner = checkout.merchant_id, checkout.livemode
    return outbox.message_of(*owner, kind, checkout.id, sequence, channel=channel, locale=locale)


def _email_of(checkout: Checkout) -> str:
    return str(checkout.payer.get("email") or checkout.order.get("customer_email") or "")
