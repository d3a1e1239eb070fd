"""A message of each kind with made-up data: nothing of it is stored or sent."""

from django.db.models import Model

from payments.db.fast_model import copy_with
from payments.domain.messages.kinds import KINDS
from payments.domain.messages.letters import Letter
from payments.models import Charge, Checkout, Merchant, PayerMessage, PaymentRequest, Refund, Source

ITEM = {"name": "Leche flan", "quantity": 2, "amount": 12_500}
PAYER = {"name": "Juan dela Cruz", "email": "juan@example.com"}
ORDER = {
    "line_items": [ITEM],
    "customer_name": PAYER["name"],
    "customer_email": PAYER["email"],
    "customer_phone": "+639175550142",
    "message": "Thank you for your order.",
}


def example_of(kind: str, merchant: Merchant, locale: str, channel: str = PayerMessage.Channel.EMAIL) -> Letter | None:
    """Return the message of a kind as `merchant` would send it, with its name, its colours and whom to ask."""
    message = PayerMessage(merchant=merchant, livemode=False, kind=kind, channel=channel, locale=locale)
    # A closed merchant sends nothing about what is not paid.
    rows = _made_up(copy_with(merchant, {"status": "active"}))
    return KINDS[kind].read(message, rows[KINDS[kind].about])


def _made_up(merchant: Merchant) -> dict[type[Model], Model]:
    """Return a checkout, a charge that pays it and a refund of that charge."""
    total = {"amount": 25_000, "currency": "PHP", "livemode": False}
    request = Checkout.Kind.REQUEST
    checkout = Checkout(merchant=merchant, kind=request, state=Checkout.State.UNPAID, order=ORDER, payer={}, **total)
    checkout.request = PaymentRequest(checkout=checkout, merchant=merchant, livemode=False, series="9F2C", place=7)
    source = Source(merchant=merchant, livemode=False, type="gcash", owner={"billing": PAYER})
    charge = Charge(
        merchant=merchant,
        source=source,
        checkout=checkout,
        amount_captured=25_000,
        status=Charge.Status.SUCCEEDED,
        description="Leche flan",
        statement_descriptor="HALO-HALO",
        **total,
    )
    return {Checkout: checkout, Charge: charge, Refund: Refund(merchant=merchant, charge=charge, **total)}
