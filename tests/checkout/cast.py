"""What tests of checkouts do: open a session by the API, and pay it as a payer."""

from typing import Any

from payments.domain.checkout import payments
from payments.domain.checkout.payments import Choice
from payments.models import Charge, Checkout
from tests.client import APPROVED, CARD_FIELDS, Api, made

ADDRESS = "203.0.113.7"
ORDER: dict[str, Any] = {
    "success_url": "https://shop.example/thanks",
    "cancel_url": "https://shop.example/cart",
    "currency": "PHP",
    "line_items": [{"name": "Halo-halo", "amount": 12_500, "quantity": 2}],
    "payment_method_types": ["card", "gcash"],
}
INVOICE = {name: ORDER[name] for name in ("currency", "line_items", "payment_method_types")}
INVOICE |= {"delivery_methods": ["email"]}
SAVE_CARD = {"mode": "save_card", "payment_method_types": ["card"], "line_items": None}
SUBSCRIPTION = {"mode": "subscription", "payment_method_types": ["card"]}
SETUP = {"mode": "setup", "payment_method_types": ["card"]}


def customer(api: Api, **members: Any) -> str:
    """Return the ID of a new customer."""
    juan = {"email": "juan@example.com", "description": "Juan", "mobile_number": "+639171234567"}
    return str(made(api.post("/customers/", juan | members))["id"])


def billed(api: Api, **members: Any) -> dict[str, Any]:
    """Return a new payment request."""
    to = {} if "customer" in members else {"customer": customer(api)}
    return made(api.post("/payment_requests/", INVOICE | to | members))


def kept_card(api: Api, juan: str, number: str = APPROVED) -> str:
    """Keep a new card for a customer, who agrees to be charged and has paid with it, if it pays; return its source."""
    consent = {"text": "You may charge my card for each invoice.", "at": "2026-11-20"}
    source = api.source(number)
    made(api.post(f"/customers/{juan}/sources", {"source": source, "consent": consent}))
    if number == APPROVED:
        api.charge_source(source, 100, initiator="customer")
    return source


def collected(api: Api, number: str = APPROVED, **members: Any) -> dict[str, Any]:
    """Return a new payment request that collects itself by a card of this number; `members` may be its schedule."""
    parts = {name: members.pop(name) for name in ("schedule", "recurring") if name in members}
    juan = members.pop("customer", None) or customer(api)
    source = members.pop("source", None) or kept_card(api, juan, number)
    return billed(api, customer=juan, source=source, collect=parts, **members)


def opened(api: Api, **members: Any) -> dict[str, Any]:
    """Return a new session."""
    return made(api.post("/checkout_sessions/", {**ORDER, **members}))


def shown(api: Api, session: dict[str, Any]) -> dict[str, Any]:
    """Return the session or request as it is now."""
    path = "payment_requests" if session["object"] == "payment_request" else "checkout_sessions"
    return made(api.get(f"/{path}/{session['id']}"))


def row_of(session: dict[str, Any]) -> Checkout:
    """Return the session's row, read as its page reads it."""
    found = payments.checkout_of_page(session["id"])
    assert found
    return found


def card(number: str = APPROVED) -> dict[str, Any]:
    return {**CARD_FIELDS, "number": number}


def pay(session: dict[str, Any], number: str = APPROVED, **choice: Any) -> Charge:
    """Pay the session by card as its payer does."""
    row = row_of(session)
    return payments.pay(row, Choice(type="card", card=card(number), attempt=row.attempts, **choice), ADDRESS)


def save(session: dict[str, Any], number: str = APPROVED, **payer: str) -> Checkout:
    """Have the card kept by a session in mode `save_card` as its payer does; return the session's row."""
    row = row_of(session)
    payments.save_card(row, Choice(type="card", card=card(number), attempt=row.attempts, payer=payer), ADDRESS)
    return row


def pay_by_wallet(session: dict[str, Any], kind: str = "gcash") -> Charge:
    """Choose a wallet, whose page the payer then has to confirm."""
    row = row_of(session)
    return payments.pay(row, Choice(type=kind, attempt=row.attempts), ADDRESS)


def charges_of(session: dict[str, Any]) -> list[Charge]:
    """Return the charges of a session, the oldest first."""
    return list(Charge.objects.filter(checkout_id=row_of(session).id).order_by("id"))


def event_types(api: Api, session: dict[str, Any]) -> list[str]:
    """Return the types of the session's events, the oldest first."""
    found = made(api.get("/events/", object=session["id"]))["data"]
    return [event["type"] for event in reversed(found)]
