"""What the demo shop has beside its sales: disputes, a hold that ends soon, a link that sells, and payment requests."""

from collections.abc import Sequence
from typing import Any

from payments import clock
from payments.domain.checkout import links, payments, requests
from payments.domain.checkout.payments import Choice
from payments.domain.shared.idempotency import StoredAnswer
from payments.models import Checkout
from payments.providers.simulator.scenarios import DISPUTE_LOST, DISPUTED
from payments.quickstart.demo.sales import Sale
from payments.quickstart.demo.scenarios import DIRECT, Scenario, Steps, after, begin, hold_expired

ADDRESS = "203.0.113.7"
TYPES = ["card", "gcash", "qrph"]
BOX: dict[str, Any] = {
    "line_items": [{"name": "Noche Buena box", "amount": 145_000, "quantity": 40}],
    "currency": "PHP",
    "payment_method_types": TYPES,
    "allow_adjustable_quantity": False,
    "phone_number_collection": False,
    "require_auth": False,
    "internal_name": "Noche Buena box",
}


def disputed(sale: Sale) -> Steps:
    yield from _disputed(sale, DISPUTED)


def dispute_lost(sale: Sale) -> Steps:
    yield from _disputed(sale, DISPUTE_LOST)
    yield after(days=8)
    sale.receive_message()


def sold_by_link(sale: Sale) -> Steps:
    """Make a link, which somebody pays every few days."""
    link = links.create(sale.caller("link"), sale.shop.merchant, BOX, _no_answer).row
    while True:
        yield after(hours=sale.random.uniform(10, 90))
        _pay(links.open_payment(link, [1]), sale)


def requested(sale: Sale) -> Steps:
    """Send an invoice, which is still unpaid."""
    _request(sale)
    yield clock.now()


def request_paid(sale: Sale) -> Steps:
    checkout = _request(sale)
    yield after(hours=sale.random.uniform(1, 40))
    _pay(checkout, sale)


# Each with the days ago at which it begins.
OF_SHOP: Sequence[tuple[Scenario, float]] = (
    *((sold_by_link, 25), (dispute_lost, 20), (disputed, 2), (hold_expired, 6.3)),
    *((request_paid, 15), (requested, 9), (request_paid, 6), (requested, 1)),
)


def _disputed(sale: Sale, number: str) -> Steps:
    yield from begin(sale, "card", number)
    yield after(hours=sale.random.uniform(2, 20))
    sale.receive_message()


def _request(sale: Sale) -> Checkout:
    item = {"name": sale.purchase.description, "amount": sale.purchase.amount, "quantity": 1}
    order = {
        "customer": sale.create_customer(),
        "line_items": [item],
        "currency": sale.purchase.currency,
        "payment_method_types": TYPES,
        "delivery_methods": ["email"],
        "require_auth": False,
        "message": "Thank you for your order.",
    }
    return requests.create(sale.caller("request"), sale.shop.merchant, order, _no_answer).row


def _pay(checkout: Checkout, sale: Sale) -> None:
    card = sale.card(DIRECT)
    payments.pay(checkout, Choice("card", checkout.attempts, card, payer={"name": card["name"]}), ADDRESS)


def _no_answer(row: object) -> StoredAnswer:
    return StoredAnswer(201, b"")
