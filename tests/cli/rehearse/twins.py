"""The sound shop with one fault each, as public trackers of shops describe them."""

import json
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from tests.cli.rehearse.shop import OK, SEE_OTHER, HoldingShop, Order, Shop, plainly_verified
from tests.support.http_server import Answered


class TrustsTheReturn(Shop):
    """Takes everybody who opens the return address for a payer."""

    def thanks(self, query: Mapping[str, str]) -> Answered:
        if order := self.orders.get(query.get("order", "")):
            order.take_payment()
        return Answered(OK, {})


class DeliversAtTheReturnAndAtTheWebhook(Shop):
    """Has two ways to deliver that do not know of each other."""

    def thanks(self, query: Mapping[str, str]) -> Answered:
        session = self.session(query["session"])
        if (order := self.order_of(session)) and session["payment_status"] == "paid":
            order.state = "paid"
            order.delivered += 1
        return Answered(OK, {})

    def take(self, session: Mapping[str, Any]) -> None:
        order = self.order_of(session)
        if order and order.session not in self.carts:
            self.carts[order.session] = order
            order.state = "paid"
            order.delivered += 1


class OrdersAgainAtTheWebhook(Shop):
    """Takes the order of the click at the return, and makes another at the webhook."""

    def take_event(self, event: dict[str, Any]) -> None:
        order = self.order_of(event["data"]["object"]) if event["type"] == "checkout_session.completed" else None
        if order:
            name = f"webhook-{order.reference}"
            self.orders[name] = Order(name, order.amount, order.currency, "paid", 1)


class ListsAnOrderTwice(Shop):
    """Has a second row for each order that is paid."""

    def answer(self, asked: Any) -> Answered:
        answered = super().answer(asked)
        if isinstance(answered.body, list):
            return Answered(OK, answered.body + [row for row in answered.body if row["state"] == "paid"])
        return answered


class LooksBeforeItActs(Shop):
    """Looks whether an order is open, and delivers later, without a transaction around both."""

    def __init__(self, *arguments: str) -> None:
        super().__init__(*arguments)
        self.lock, self.both = nullcontext(), threading.Barrier(2)

    def take(self, session: Mapping[str, Any]) -> None:
        order = self.order_of(session)
        if order and order.state == "open" and session["payment_status"] == "paid":
            try:
                self.both.wait(1.0)
            except threading.BrokenBarrierError:
                self.both.reset()
            order.state = "paid"
            order.delivered += 1


class ActsBeforeItVerifies(Shop):
    """Does what an event says, and then looks at its signature."""

    def webhook(self, headers: Mapping[str, str], body: bytes) -> Answered:
        self.take_event(json.loads(body))
        return super().webhook(headers, body)


class DeliversOnEachWebhook(Shop):
    """Takes every event for a new one."""

    def thanks(self, query: Mapping[str, str]) -> Answered:
        return Answered(OK, {})

    def take(self, session: Mapping[str, Any]) -> None:
        if order := self.order_of(session):
            order.state = "paid"
            order.delivered += 1


class CapturesTwice(HoldingShop):
    """Captures at the return and at the webhook, and takes the second refusal for a failed payment."""

    def take(self, session: Mapping[str, Any]) -> None:
        order = self.order_of(session)
        if order and session["payment_status"] in ("authorized", "paid"):
            if self.kaha("POST", f"/checkout_sessions/{order.session}/capture").is_success:
                order.take_payment()
            else:
                order.state = "cancelled"


class DeliversWhatIsHeld(HoldingShop):
    """Takes money that is held for money that is paid, and lets the hold expire."""

    def capture(self, order: Order) -> None:
        order.take_payment()


class TakesTheAmountFromTheBrowser(Shop):
    """Has the price in a hidden field."""

    def begin(self, order: Order, amount: int = 0) -> None:
        super().begin(order, self.asked)

    def new_order(self, form: Mapping[str, str]) -> Order:
        self.asked = int(form.get("amount", 0))
        return super().new_order(form)


class ChecksNoSignature(Shop):
    """Believes every event."""

    def verified(self, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(body)
        return event


class ChecksNoTime(Shop):
    """Believes an event that was signed at any time."""

    def verified(self, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        if not plainly_verified(self.secret, headers, body):
            raise ValueError
        event: dict[str, Any] = json.loads(body)
        return event


class LetsAnOldEventOverwrite(Shop):
    """Takes the state of an order from whichever event comes last."""

    STATES = {"unpaid": "open", "paid": "paid", "expired": "cancelled"}

    def thanks(self, query: Mapping[str, str]) -> Answered:
        return Answered(OK, {})

    def take_event(self, event: dict[str, Any]) -> None:
        session = event["data"]["object"]
        if session["object"] == "checkout.session" and (order := self.order_of(session)):
            order.state = self.STATES[session["payment_status"]]
            order.delivered = order.delivered or int(order.state == "paid")


class RefundsBeyondThePayment(Shop):
    """Counts a refund before kaha has answered, and never compares it with what is left."""

    def refund(self, order: Order, amount: int) -> Answered:
        order.refunded += amount
        self.refunded(order, amount)
        return Answered(OK, {})


class TakesUnknownForDeclined(Shop):
    """Cancels the order of a buyer who goes back while the bank has not answered."""

    def leave(self, order: Order) -> Answered:
        if order.state == "open" and self.session(order.session)["payment_status"] == "unpaid":
            order.state = "cancelled"
        return Answered(OK, {})


class MakesTwoSessionsForOneOrder(Shop):
    """Makes a session on every click."""

    def buy(self, form: Mapping[str, str]) -> Answered:
        order = self.carts.get(form["cart"]) or self.new_order(form)
        self.carts[form["cart"]] = order
        self.begin(order)
        return Answered(SEE_OTHER, headers={"Location": order.page})


class CrashesBetweenPaymentAndOrder(Shop):
    """Notes that it has seen an event, and crashes before it writes the order."""

    def __init__(self, *arguments: str) -> None:
        super().__init__(*arguments)
        self.seen: set[str] = set()

    def thanks(self, query: Mapping[str, str]) -> Answered:
        return Answered(OK, {})

    def webhook(self, headers: Mapping[str, str], body: bytes) -> Answered:
        self.crashes = False
        answered = super().webhook(headers, body)
        return Answered(500, {}) if self.crashes else answered

    def take_event(self, event: dict[str, Any]) -> None:
        if event["id"] in self.seen:
            return
        self.seen.add(event["id"])
        self.crashes = event["type"] == "checkout_session.completed"
        if not self.crashes:
            super().take_event(event)


class IgnoresWebhooks(Shop):
    """Learns of payments by the return alone."""

    def take_event(self, event: dict[str, Any]) -> None:
        pass


class TakesAnySession(Shop):
    """Asks kaha whether the session of the address is paid, and not whose it is."""

    def thanks(self, query: Mapping[str, str]) -> Answered:
        order = self.orders.get(query.get("order", ""))
        if order and self.session(query["session"])["payment_status"] == "paid":
            order.take_payment()
        return Answered(OK, {})


class KnowsTwoDecimalsOnly(Shop):
    """Multiplies by a hundred, whatever the currency."""

    def begin(self, order: Order, amount: int = 0) -> None:
        super().begin(order, {"JPY": order.amount * 100, "KWD": order.amount // 10}.get(order.currency, order.amount))


class RefusesUnknownEvents(Shop):
    """Answers 400 to what it does not know."""

    def webhook(self, headers: Mapping[str, str], body: bytes) -> Answered:
        answered = super().webhook(headers, body)
        known = json.loads(body)["type"].startswith("checkout_session.")
        return answered if known or answered.status == 401 else Answered(400, {})


class StoresTheOrderAtTheReturn(Shop):
    """Has no order before its buyer comes back."""

    def __init__(self, *arguments: str) -> None:
        super().__init__(*arguments)
        self.drafts: dict[str, Order] = {}

    def new_order(self, form: Mapping[str, str]) -> Order:
        order = super().new_order(form)
        self.drafts[order.reference] = order
        return order

    def answer(self, asked: Any) -> Answered:
        answered = super().answer(asked)
        if isinstance(answered.body, list):
            return Answered(OK, [row for row in answered.body if row["reference"] not in self.drafts])
        return answered

    def thanks(self, query: Mapping[str, str]) -> Answered:
        if self.session(query["session"])["payment_status"] == "paid":
            self.drafts.pop(query.get("order", ""), None)
        return super().thanks(query)


TWINS = [twin for twin in (*Shop.__subclasses__(), *HoldingShop.__subclasses__()) if twin is not HoldingShop]
