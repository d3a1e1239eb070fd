"""Messages about payment requests, and about payments by request or link that were declined."""

from django.utils.translation import gettext as _

from payments.db.writes import Insert, Write, execute_writes
from payments.domain.catalogue.event_types import REQUEST_UPDATED
from payments.domain.messages import outbox
from payments.domain.messages.content import Content, items_of
from payments.domain.messages.receipts import sends_receipts
from payments.domain.shared.caller import Caller
from payments.domain.shared.checkout_changes import change, change_request
from payments.models import Checkout, PayerMessage
from payments.money import shown_amount
from payments.rendering.objects.checkout import payment_url

INVOICE, REMINDER, FAILURE = "request", "request_reminder", "payment_failed"
# Of one checkout: a payer sees later ones on the page, and anybody may have typed the address.
FAILURES_MAX = 3
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
    if not (is_mailed and sends_receipts(caller) and outbox.is_ready(checkout.livemode, Channel.EMAIL)):
        return []
    return [_message(checkout, FAILURE, checkout.attempts, Channel.EMAIL)]


def invoice(message: PayerMessage) -> Content | None:
    """Return what the message about a request says; None once it is paid or voided, or its merchant closed."""
    subject = _("Invoice {number} from {merchant}: {amount}")
    summary = _("{merchant} sent you an invoice of {amount}.")
    return _about_open_request(message, subject, summary, _("{merchant} sent you invoice {number} of {amount}: {url}"))


def reminder(message: PayerMessage) -> Content | None:
    """Return what the reminder of a request says; None once it is paid or voided, or its merchant closed."""
    subject = _("Reminder: invoice {number} from {merchant}, {amount}")
    summary = _("An invoice of {amount} from {merchant} is not paid yet.")
    return _about_open_request(message, subject, summary, _("Invoice {number} of {amount} from {merchant}: {url}"))


def failure(message: PayerMessage) -> Content | None:
    """Return what the message about a declined attempt says; None once the payer has paid, pays again or cannot."""
    checkout = _checkout_of(message)
    if checkout.state != State.UNPAID or checkout.merchant.is_closed:
        return None
    merchant, amount = checkout.merchant, shown_amount(checkout.amount, checkout.currency)
    return Content(
        merchant,
        _email_of(checkout),
        subject=_("Your payment to {merchant} did not go through: {amount}").format(
            merchant=merchant.title, amount=amount
        ),
        title=_("Payment declined"),
        amount=amount,
        summary=_("Nothing was paid."),
        message=_("Nothing was paid. Try again, or choose another way to pay."),
        button=(_("Pay another way"), payment_url(checkout)),
        below_button=_("Nothing is paid before you choose how on the next page."),
        facts=[(_("Order"), ", ".join(item["name"] for item in checkout.order["line_items"])[:255])],
    )


def invoice_delivered(message: PayerMessage) -> None:
    """Record that the message about a request was taken, with an event; nothing is new where one was before."""
    rows = Checkout.objects.whole(message.merchant_id).select_for_update(of=("self",), no_key=True)
    checkout = rows.get(merchant_id=message.merchant_id, id=message.about_id)
    name = f"{message.channel}_delivered"
    if not getattr(checkout.request, name):
        caller = Caller(checkout.merchant_id, checkout.livemode)
        delivered = change_request(checkout, **{name: True})
        execute_writes(delivered, *change(caller, checkout, REQUEST_UPDATED))


def _about_open_request(message: PayerMessage, subject: str, summary: str, sms: str) -> Content | None:
    checkout = _checkout_of(message)
    if checkout.state not in (State.UNPAID, State.PAYING) or checkout.merchant.is_closed:
        return None
    order, merchant, amount = checkout.order, checkout.merchant, shown_amount(checkout.amount, checkout.currency)
    names = {
        "number": checkout.request.number,
        "merchant": merchant.title,
        "amount": amount,
        "url": payment_url(checkout),
    }
    return Content(
        merchant,
        _email_of(checkout) if message.channel == Channel.EMAIL else order["customer_phone"],
        subject=subject.format(**names),
        title=_("Invoice {number}").format(**names),
        amount=amount,
        summary=summary.format(**names),
        addressee=_("For {name}").format(name=order["customer_name"]),
        message=order.get("message") or "",
        button=(_("View and pay {amount}").format(**names), names["url"]),
        below_button=_("Nothing is paid before you choose how on the next page."),
        items=items_of(order, checkout.currency),
        total=amount,
        notes=[_("If you do not know {merchant}, you need not do anything.").format(**names)],
        sms=sms.format(**names),
    )


def _message(checkout: Checkout, kind: str, sequence: int, channel: str) -> Insert:
    locale = checkout.order.get("locale") or "en"
    owner = checkout.merchant_id, checkout.livemode
    return outbox.message_of(*owner, kind, checkout.id, sequence, channel=channel, locale=locale)


def _checkout_of(message: PayerMessage) -> Checkout:
    return Checkout.objects.whole(message.merchant_id).get(merchant_id=message.merchant_id, id=message.about_id)


def _email_of(checkout: Checkout) -> str:
    return str(checkout.payer.get("email") or checkout.order.get("customer_email") or "")
