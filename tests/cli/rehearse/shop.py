"""A small shop that is sound: it takes orders, leads to kaha's page, and believes nobody but kaha."""

import hmac
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
from standardwebhooks import Webhook, WebhookVerificationError

from tests.support.http_server import Answered, Asked

PRICES = {"PHP": 25000, "JPY": 500, "KWD": 2500}
OK, NO_CONTENT, SEE_OTHER, UNAUTHORIZED, CONFLICT = 200, 204, 303, 401, 409


@dataclass
class Order:
    """An order; amounts in the currency's smallest unit. `page` and `session` are of its payment."""

    reference: str
    amount: int
    currency: str
    state: str = "open"
    delivered: int = 0
    refunded: int = 0
    session: str = ""
    page: str = ""

    def take_payment(self) -> None:
        """Turn from open to paid and hand out, once."""
        if self.state == "open":
            self.state = "paid"
            self.delivered += 1

    def shown(self) -> dict[str, Any]:
        """Return what the list of orders has of it."""
        names = ("reference", "state", "amount", "currency", "delivered", "refunded")
        return {name: getattr(self, name) for name in names}


class Shop:
    """Answers the requests of buyers, staff and kaha; `address` is its own."""

    mode = "payment"

    def __init__(self, kaha: str, key: str, secret: str) -> None:
        self.address, self.secret = "", secret
        self.orders: dict[str, Order] = {}
        self.carts: dict[str, Order] = {}
        self.lock: AbstractContextManager[Any] = threading.RLock()
        self._kaha = httpx2.Client(base_url=f"{kaha}/v2", auth=(key, ""), timeout=30)

    def answer(self, asked: Asked) -> Answered:
        """Answer a request, one at a time as a database's transactions would be."""
        address = urlsplit(asked.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        with self.lock:
            match address.path:
                case "/buy":
                    return self.buy(dict(parse_qsl(asked.body.decode())))
                case "/thanks":
                    return self.thanks(query)
                case "/cart":
                    return self.leave(self.orders[query["order"]])
                case "/refund":
                    form = dict(parse_qsl(asked.body.decode()))
                    return self.refund(self.orders[form["reference"]], int(form["amount"]))
                case "/webhooks":
                    return self.webhook(asked.headers, asked.body)
                case _orders:
                    return Answered(OK, [order.shown() for order in self.orders.values()])

    def buy(self, form: Mapping[str, str]) -> Answered:
        """Begin the order of a cart, or lead to where it is."""
        order = self.carts.get(form["cart"])
        if order is None or order.state == "cancelled":
            order = self.carts[form["cart"]] = self.new_order(form)
            self.begin(order)
        if order.state != "open":
            return Answered(SEE_OTHER, headers={"Location": f"{self.address}/thanks?session={order.session}"})
        return Answered(SEE_OTHER, headers={"Location": order.page})

    def new_order(self, form: Mapping[str, str]) -> Order:
        """Store an order of the price that is in the catalogue."""
        currency = form.get("currency", "PHP")
        order = Order(f"order-{len(self.orders) + 1}", PRICES[currency], currency)
        self.orders[order.reference] = order
        return order

    def begin(self, order: Order, amount: int = 0) -> None:
        """Make the session of an order."""
        session = self.kaha(
            "POST",
            "/checkout_sessions/",
            mode=self.mode,
            line_items=[{"name": "Halo-halo", "amount": amount or order.amount, "quantity": 1}],
            currency=order.currency,
            payment_method_types=["card"] if self.mode == "setup" else ["card", "gcash", "qrph", "bpi"],
            client_reference_id=order.reference,
            success_url=f"{self.address}/thanks?order={order.reference}&session={{CHECKOUT_SESSION_ID}}",
            cancel_url=f"{self.address}/cart?order={order.reference}",
        ).json()
        order.session, order.page = session["id"], session["payment_url"]

    def thanks(self, query: Mapping[str, str]) -> Answered:
        """Ask kaha about the session of a buyer who comes back."""
        self.take(self.session(query["session"]))
        return Answered(OK, {})

    def leave(self, order: Order) -> Answered:
        """Cancel the order of a buyer who goes back, where kaha ends its session."""
        if order.state == "open" and self.kaha("POST", f"/checkout_sessions/{order.session}/expire").is_success:
            order.state = "cancelled"
        return Answered(OK, {})

    def webhook(self, headers: Mapping[str, str], body: bytes) -> Answered:
        """Take an event of kaha."""
        try:
            event = self.verified(headers, body)
        except (WebhookVerificationError, ValueError):
            return Answered(UNAUTHORIZED, {})
        self.take_event(event)
        return Answered(NO_CONTENT)

    def verified(self, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        """Return the event of a body that is signed, and was lately."""
        event: dict[str, Any] = Webhook(self.secret).verify(body, {name.lower(): headers[name] for name in headers})
        return event

    def take_event(self, event: dict[str, Any]) -> None:
        """Do what an event says."""
        session = event["data"]["object"]
        if event["type"] == "checkout_session.completed":
            self.take(session)
        elif event["type"] == "checkout_session.expired" and (order := self.order_of(session)):
            order.state = "cancelled" if order.state == "open" else order.state

    def take(self, session: Mapping[str, Any]) -> None:
        """Take what kaha says of a session."""
        order = self.order_of(session)
        if order and session["payment_status"] == "paid":
            order.take_payment()

    def refund(self, order: Order, amount: int) -> Answered:
        """Give a part back that is not above what is left, and count it when kaha has answered."""
        if order.state != "paid" or order.refunded + amount > order.amount:
            return Answered(CONFLICT, {})
        if self.refunded(order, amount):
            order.refunded += amount
        return Answered(OK, {})

    def refunded(self, order: Order, amount: int) -> bool:
        """Have kaha refund, and return whether it does."""
        charge = self.session(order.session)["payment_details"]["id"]
        return self.kaha("POST", f"/charges/{charge}/refund", amount=amount).is_success

    def order_of(self, session: Mapping[str, Any]) -> Order | None:
        """Return the order of a session, None for one of another program."""
        return self.orders.get(session["client_reference_id"] or "")

    def session(self, session: str) -> dict[str, Any]:
        """Return a session as it is now."""
        found: dict[str, Any] = self.kaha("GET", f"/checkout_sessions/{session}").json()
        return found

    def kaha(self, method: str, path: str, **body: Any) -> httpx2.Response:
        """Return what kaha answers."""
        return self._kaha.request(method, path, json=body if method == "POST" else None)


class HoldingShop(Shop):
    """A sound shop that holds the money on the card, and captures it when kaha says so."""

    mode = "setup"

    def take(self, session: Mapping[str, Any]) -> None:
        order = self.order_of(session)
        if order and order.state == "open" and session["payment_status"] in ("authorized", "paid"):
            self.capture(order)

    def capture(self, order: Order) -> None:
        """Capture once; what was captured before counts as well."""
        self.kaha("POST", f"/checkout_sessions/{order.session}/capture")
        if self.session(order.session)["payment_status"] == "paid":
            order.take_payment()


def plainly_verified(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether the plain signature is right, which does not cover the time."""
    wanted = "v1=" + hmac.new(secret.encode(), body, "sha256").hexdigest()
    return hmac.compare_digest(headers["X-Kaha-Signature"], wanted)
