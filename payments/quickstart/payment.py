"""A first payment through kaha's own HTTP API, as a merchant's program would make it, and what the demo shop sells."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

from payments.providers.simulator.scenarios import DIRECT
from payments.quickstart.ports import HOST
from payments.quickstart.supervisor import Failed

# Approved without a challenge, so that no payer is needed.
CARD = {"number": DIRECT, "exp_month": "12", "exp_year": "2034", "cvc": "123", "name": "Juan dela Cruz"}
ORDER = {"amount": 125_000, "currency": "PHP", "description": "Order 1001"}
REFUNDED = 25_000
# One way to pay of each kind: a card, a wallet, a QR code, and a bank that asks for a PIN.
CART: dict[str, Any] = {
    "line_items": [
        {"name": "Halo-halo", "description": "Ube, leche flan, pinipig", "amount": 12_500, "quantity": 2},
        {"name": "Kapeng barako", "amount": 9_000, "quantity": 1},
    ],
    "currency": "PHP",
    "payment_method_types": ["card", "gcash", "qrph", "bpi"],
    "client_reference_id": "cart-1001",
}
# The payment link of the demo shop: its short name, and its order.
LINK = "demo"
OFFER = {
    "line_items": [item | {"quantity": 10_000} for item in CART["line_items"]],
    "currency": CART["currency"],
    "payment_method_types": CART["payment_method_types"],
    "allow_adjustable_quantity": True,
    "phone_number_collection": False,
    "require_auth": True,
    "internal_name": "Try a payment",
    "description": "Merienda\nNothing is delivered, and no money moves.",
}
TIMEOUT_SECONDS = 20


@dataclass(frozen=True)
class Step:
    """One call: what was asked, what was answered, and what that means in plain words."""

    method: str
    path: str
    status: int
    meaning: str


def take_first_payment(port: int, secret_key: str) -> Iterator[Step]:
    """Make a source of a card, hold money, capture it, refund a part, and list the charges.

    Raises Failed where a call is not answered with success.
    """

    def call(path: str, body: dict[str, Any] | None = None) -> tuple[dict[str, Any], tuple[str, str, int]]:
        method = "GET" if body is None else "POST"
        status, answer = _call(port, secret_key, method, path, body)
        return answer, (method, path, status)

    source, asked = call("/v2/sources/", {"type": "card", "card": CARD})
    yield Step(*asked, f"card ending in {source['card']['last4']} is now a source that can be charged once")
    charge, asked = call("/v2/charges/", {**ORDER, "source": source["id"], "capture": False})
    yield Step(*asked, f"{_money(charge['amount'])} held, nothing taken yet")
    charge, asked = call(f"/v2/charges/{charge['id']}/capture", {})
    yield Step(*asked, f"{_money(charge['amount_captured'])} taken")
    charge, asked = call(f"/v2/charges/{charge['id']}/refund", {"amount": REFUNDED})
    kept = charge["amount_captured"] - charge["amount_refunded"]
    yield Step(*asked, f"{_money(charge['amount_refunded'])} given back, {_money(kept)} kept")
    page, asked = call("/v2/charges/?limit=100")
    count = len(page["data"])
    if "next" in page:
        yield Step(*asked, f"more than {count} charges so far")
    else:
        yield Step(*asked, "1 charge so far" if count == 1 else f"{count} charges so far, all still there")


def _call(port: int, secret_key: str, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
    credentials = base64.b64encode(f"{secret_key}:".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
    connection = HTTPConnection(HOST, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read().decode()
    except (OSError, HTTPException) as error:
        raise Failed(f"{method} {path} was not answered: {error!r}") from error
    finally:
        connection.close()
    if response.status not in (200, 201):
        raise Failed(f"{method} {path} was answered {response.status}: {text[:500]}")
    return response.status, json.loads(text)


def _money(amount: int) -> str:
    return f"PHP {amount // 100:,}.{amount % 100:02}"
