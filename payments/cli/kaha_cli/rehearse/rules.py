"""The rules that a shop must keep, each with what to change, and which of them are broken for which buyer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from kaha_cli.command import money
from kaha_cli.rehearse.books import Charges, Order, Orders
from kaha_cli.rehearse.visit import Line, Visit

ONE_ORDER = "Let the return and the webhook find the order that the click began, by its reference, and make none."


@dataclass(frozen=True)
class ShopRule:
    """What does not hold where the rule is broken, and what to change.

    `is_broken` takes an order as the shop lists it, and the charges that paid it. Without it, a visit notices it.
    It `may_heal` where a shop does its work after it has answered.
    """

    words: str
    advice: str
    is_broken: Callable[[Order, Charges], bool] = lambda *_: False
    may_heal: bool = False


def _keeps(charge: dict[str, Any]) -> bool:
    return bool(charge["amount_captured"] > charge["amount_refunded"])


def _refunds_differ(order: Order, paid: Charges) -> bool:
    captured, refunded = (sum(charge[f"amount_{what}"] for charge in paid) for what in ("captured", "refunded"))
    if order.refunded not in (None, refunded):
        return True
    return bool(paid) and (order.state == "refunded") != (refunded == captured)


# By its code; the first that is broken explains those after it.
RULES = {
    "forged_event_taken": ShopRule(
        "an event with a wrong signature was accepted",
        "Verify the signature over the bytes as they came, before anything else, and answer 401 where it is wrong.",
    ),
    "old_event_taken": ShopRule(
        "an event that was signed 10 minutes ago was accepted",
        "Refuse an event whose webhook-timestamp is more than 5 minutes away, so that nobody can play one again.",
    ),
    "event_refused": ShopRule(
        "an event of kaha was refused on every attempt",
        "Answer 2xx to every event with a right signature, also to types and objects that your shop does not know.",
    ),
    "begin_failed": ShopRule(
        "the order could not be begun",
        "Answer the POST with a redirect (303) to the session's payment_url, or with JSON that has payment_url. The "
        "session is of the account whose key rehearses.",
    ),
    "amount_from_browser": ShopRule(
        "the amount came from the browser",
        "Take prices from your own catalogue. What the browser sends is a wish, never the price.",
    ),
    "no_order": ShopRule(
        "kaha has the payment, and the shop has no order",
        "Store the order before the payment page is opened: a buyer who has paid may never come back.",
        may_heal=True,
    ),
    "listed_twice": ShopRule("the shop has more than one order of one reference", ONE_ORDER),
    "delivered_to_nobody": ShopRule("the shop delivered an order that no buyer began", ONE_ORDER),
    "paid_twice": ShopRule(
        "one order was paid twice",
        "Keep the session with the order. On a second click lead to the same one, or expire it before making another.",
        lambda _order, paid: len(paid) > 1,
    ),
    "delivered_unpaid": ShopRule(
        "the order was delivered, and kaha has no payment",
        "Deliver by a verified event, or by the session as your server reads it; compare its client_reference_id.",
        lambda order, paid: order.delivered > 0 and not paid,
    ),
    "delivered_twice": ShopRule(
        "the order was delivered more than once",
        "Deliver in the transaction in which the order turns from open to paid, and only if that changed one row.",
        lambda order, _paid: order.delivered > 1,
    ),
    "not_delivered": ShopRule(
        "kaha has the payment, and the order was not delivered",
        "Answer 2xx only after the order is stored as paid, in one transaction with the event's ID. Only a session "
        "that kaha has expired cancels an order: an unknown outcome is no decline.",
        lambda order, paid: not order.delivered and any(map(_keeps, paid)),
        may_heal=True,
    ),
    "paid_on_paper": ShopRule(
        "the order says that it was paid, and kaha has no payment",
        "Let an order be paid only by an event or a session that says paid.",
        lambda order, paid: order.state in ("paid", "refunded") and not paid,
    ),
    "state_behind": ShopRule(
        "kaha has the payment, and the order does not say paid",
        "Ignore an event whose sequence is not above the last one of its object, and never take a paid order back.",
        lambda order, paid: order.state in ("open", "cancelled") and bool(paid),
        may_heal=True,
    ),
    "other_amount": ShopRule(
        "the order and its payment are of different amounts",
        "Send amounts in the currency's smallest unit: some currencies have no decimals, some have three.",
        lambda order, paid: any(
            (charge["amount_captured"], charge["currency"]) != (order.amount, order.currency) for charge in paid
        ),
    ),
    "other_refund": ShopRule(
        "the shop and kaha have refunded different amounts",
        "Count a refund when kaha has answered it, with one idempotency key for each wish, never above the payment.",
        _refunds_differ,
        may_heal=True,
    ),
}


def broken_rules(listed: list[Order], paid: Charges) -> list[str]:
    """Return the codes of the rules that the orders of one reference break, the one that explains most first."""
    if not listed:
        return ["no_order"] if paid else []
    # A second payment that was given back is as none.
    kept = [charge for charge in paid if _keeps(charge)] or paid
    broken = [code for code, rule in RULES.items() if rule.is_broken(listed[0], kept)]
    return ["listed_twice"] * (len(listed) > 1) + broken


@dataclass(frozen=True)
class Wrong:
    """A rule that the shop broke, by its code, for this buyer, 0 if for none; with what happened until then."""

    code: str
    reference: str
    seed: int
    buyer: int
    about: str
    lines: list[Line]

    def shown(self) -> dict[str, Any]:
        """Return it with its words, as programs get it."""
        words, replay = RULES[self.code].words, f"--seed {self.seed}"
        title = f"Buyer {self.buyer}, {self.about}: {words}" if self.buyer else words[0].upper() + words[1:]
        replay += f" --only {self.buyer}" if self.buyer else ""
        return vars(self) | {"title": title, "advice": RULES[self.code].advice, "replay": replay}


def wrong_of(visits: Iterable[Visit], orders: Orders) -> list[Wrong]:
    """Compare orders with kaha's books; return what is wrong, by buyer, each with a story that both sides end."""
    found = []
    for visit in sorted(visits, key=lambda each: each.number):
        broken, end = [("", code) for code in visit.wrong], list[Line]()
        for reference, paid in visit.read_charges().items():
            listed = orders.get(reference, [])
            shown = " and ".join(map(_listed, listed)) or "nothing"
            end += [("kaha", f"has for the order: {_booked(paid)}"), ("shop", f"lists for the order: {shown}")]
            broken += [(reference, code) for code in broken_rules(listed, paid)]
        lines = visit.lines + end
        found += [Wrong(code, reference, visit.seed, visit.number, visit.about, lines) for reference, code in broken]
    return found


def _booked(paid: Charges) -> str:
    sums = [[money(charge[f"amount_{of}"], charge["currency"]) for of in ("captured", "refunded")] for charge in paid]
    return " and ".join(f"{captured} paid, {refunded} refunded" for captured, refunded in sums) or "nothing paid"


def _listed(order: Order) -> str:
    refunded = f", {money(order.refunded, order.currency)} refunded" if order.refunded else ""
    delivered = f"delivered {order.delivered} {'time' if order.delivered == 1 else 'times'}"
    return f"{order.state}, {money(order.amount, order.currency)}, {delivered}{refunded}"
