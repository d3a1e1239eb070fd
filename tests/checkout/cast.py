"""What tests of checkouts do: open a session by the API, and pay it as a payer."""

from typing import Any

from payments.domain.checkout import payments
from payments.domain.checkout.payments import Choice
from payments.ids import parse_id
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
SETUP = {"mode": "setup", "payment_method_types": ["card"]}


def opened(api: Api, **members: Any) -> dict[str, Any]:
    """Return a new session."""
    return made(api.post("/checkout_sessions/", {**ORDER, **members}))


def shown(api: Api, session: dict[str, Any]) -> dict[str, Any]:
    """Return the session as it is now."""
    return made(api.get(f"/checkout_sessions/{session['id']}"))


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


def pay_by_wallet(session: dict[str, Any], kind: str = "gcash") -> Charge:
    """Choose a wallet, whose page the payer then has to confirm."""
    row = row_of(session)
    return payments.pay(row, Choice(type=kind, attempt=row.attempts), ADDRESS)


def charges_of(session: dict[str, Any]) -> list[Charge]:
    """Return the charges of a session, the oldest first."""
    return list(Charge.objects.filter(checkout_id=parse_id("cs", session["id"])).order_by("id"))


def event_types(api: Api, session: dict[str, Any]) -> list[str]:
    """Return the types of the session's events, the oldest first."""
    found = made(api.get("/events/", object=session["id"]))["data"]
    return [event["type"] for event in reversed(found)]
