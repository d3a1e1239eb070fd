"""A first payment through kaha's own HTTP API, as a merchant's program would take it."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

from payments.quickstart.ports import HOST
from payments.quickstart.supervisor import Failed

# Approved without a challenge, so that no payer is needed.
CARD = {
    "number": "4000000000003055",
    "exp_month": "12",
    "exp_year": "2034",
    "cvc": "123",
    "name": "Juan dela Cruz",
}
ORDER = {"amount": 125_000, "currency": "PHP", "description": "Order 1001"}
REFUNDED = 25_000
TIMEOUT_SECONDS = 20


@dataclass(frozen=True)
class Step:
    """One call: what was asked, what was answered, and what that means in plain words."""

    method: str
    path: str
    status: int
    meaning: str


def take_first_payment(port: int, secret_key: str) -> Iterator[Step]:
    """A card becomes a source, money is held, captured and refunded in part, and the charges are listed.

    Raises Failed where a call is not answered with success.
    """
    api = _Api(port, secret_key)
    source = api.post("/v2/sources/", {"type": "card", "card": CARD})
    yield api.step(f"card ending in {source['card']['last4']} is now a source that can be charged once")
    charge = api.post("/v2/charges/", {**ORDER, "source": source["id"], "capture": False})
    yield api.step(f"{money(charge['amount'])} held, nothing taken yet")
    path = f"/v2/charges/{charge['id']}"
    charge = api.post(f"{path}/capture", {})
    yield api.step(f"{money(charge['amount_captured'])} taken")
    charge = api.post(f"{path}/refund", {"amount": REFUNDED})
    kept = charge["amount_captured"] - charge["amount_refunded"]
    yield api.step(f"{money(charge['amount_refunded'])} given back, {money(kept)} kept")
    page = api.call("GET", "/v2/charges/?limit=100")
    yield api.step(_so_many(len(page["data"]), "next" in page))


def money(amount: int) -> str:
    """An amount in centavos as people write it."""
    return f"PHP {amount // 100:,}.{amount % 100:02}"


def _so_many(charges: int, there_are_more: bool) -> str:
    if there_are_more:
        return f"more than {charges} charges so far"
    return "1 charge so far" if charges == 1 else f"{charges} charges so far, all still there"


class _Api:
    """Calls the API and remembers the last call for `step`."""

    def __init__(self, port: int, secret_key: str) -> None:
        self._port = port
        credentials = base64.b64encode(f"{secret_key}:".encode()).decode()
        self._headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
        self._last = ("", "", 0)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self.call("POST", path, json.dumps(body))

    def call(self, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        connection = HTTPConnection(HOST, self._port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, path, body, self._headers)
            response = connection.getresponse()
            text = response.read().decode()
        except (OSError, HTTPException) as error:
            raise Failed(f"{method} {path} was not answered: {error!r}") from error
        finally:
            connection.close()
        if response.status not in (200, 201):
            raise Failed(f"{method} {path} was answered {response.status}: {text[:500]}")
        self._last = (method, path, response.status)
        return dict(json.loads(text))

    def step(self, meaning: str) -> Step:
        return Step(*self._last, meaning)
