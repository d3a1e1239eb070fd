"""Examples of requests, and of answers that the declarations do not show; card numbers are those of test cards."""

from collections.abc import Collection
from typing import Any

from payments.domain.catalogue.event_types import CHARGE_CAPTURED, CHARGE_FAILED, CHARGE_UPDATED, EVENT_TYPES
from payments.providers.simulator.scenarios import DIRECT
from payments.rendering.objects.charges import ACTION, CHARGE, REFUND
from payments.rendering.objects.disputes import DISPUTE, DISPUTE_RESPONSE
from payments.rendering.objects.events import EVENT as EVENT_OBJECT
from payments.rendering.objects.sources import EXAMPLE_OWNER, EXAMPLE_REDIRECT, SOURCE, SOURCE_ID

Example = dict[str, Any]


def without(example: Example, names: Collection[str]) -> Example:
    return {name: value for name, value in example.items() if name not in names}


def page(path: str, row: Example) -> Example:
    """Return a page of the list at `path`, with one row of many."""
    return {"object": "list", "data": [row], "next": f"{path}?start_after={row['id']}"}


CARD = {"name": "Juan dela Cruz", "number": DIRECT, "exp_month": "12", "exp_year": "2039", "cvc": "123"}
CARD_SOURCE_REQUEST = {"type": "card", "card": CARD, "redirect": EXAMPLE_REDIRECT, "owner": EXAMPLE_OWNER}
WALLET_SOURCE_REQUEST = {"type": "gcash", "redirect": without(EXAMPLE_REDIRECT, ["notify"])}
WALLET_SOURCE = (
    without(SOURCE.example, ["card", "owner"]) | WALLET_SOURCE_REQUEST | {"id": "src_019aa3c5d1f27c3e9d0b5a8e4f6c2b13"}
)

CHARGE_REQUEST = {
    "amount": 188_900,
    "currency": "PHP",
    "source": SOURCE_ID,
    "description": "Order 77",
    "statement_descriptor": "SARI STORE",
    "capture": False,
    "metadata": {"order": "77"},
}
HELD = CHARGE.example
CAPTURED, VOIDED, DECLINED = (EVENT_TYPES[name].example for name in (CHARGE_CAPTURED, CHARGE_UPDATED, CHARGE_FAILED))
SUBMITTED = DISPUTE.example | {"response": DISPUTE_RESPONSE.example}
ACCEPTED = DISPUTE.example | {"response": DISPUTE_RESPONSE.example | {"type": "accept"}}
EVIDENCE_REQUEST = {
    "type": "shipping_documentation",
    "text": "Delivered on 2026-11-19 to Juan dela Cruz, who signed for it.",
}
REFUNDED = CAPTURED | {"amount_refunded": 50_000, "refunds": [REFUND.example]}
AWAITING_PAYER = HELD | {
    "authorized": False,
    "status": "pending",
    "action": ACTION.example,
}
AWAITING_PIN = AWAITING_PAYER | {
    "source": WALLET_SOURCE | {"type": "bpi", "used": True, "require_auth": True},
    "action": {"type": "verify_otp", "confirmation_id": "7d1b0c55", "url": "https://pay.example/pin/9f2c"},
}
EVENT = EVENT_OBJECT.example | {"data": {"object": CAPTURED}}
