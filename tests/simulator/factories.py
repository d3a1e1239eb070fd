"""Payments and operations as kaha's domain would put them to the simulator."""

from dataclasses import replace
from typing import Any

from payments import ids
from payments.providers.base import ActionRequired, CardData, Operation, Payment
from payments.providers.simulator.connector import Simulator
from tests.client import APPROVED, CHALLENGED

RETURN_URL = "http://testserver/return/somewhere"

simulator = Simulator()


def payment(number: str = CHALLENGED, *, cvc: str | None = "123", **members: Any) -> Payment:
    """Return a payment of PHP 100.00 by card, without authentication unless `authenticate` says so."""
    asked = Payment(
        reference=ids.new_id().hex,
        amount=10_000,
        currency="PHP",
        source_type="card",
        capture=True,
        authenticate=False,
        return_url=RETURN_URL,
        description="Halo-halo",
        statement_descriptor="SARI STORE",
        card=CardData(number, "12", "2039", "Juan dela Cruz", cvc),
    )
    return replace(asked, **members)


def by_type(source_type: str, **members: Any) -> Payment:
    """Return a payment of another type than card."""
    return payment(source_type=source_type, card=None, **members)


def taken(number: str = APPROVED, **members: Any) -> Payment:
    """Return a payment that the simulator took (or holds, with `capture=False`) at once."""
    made = payment(number, **members)
    simulator.create_payment(made)
    return made


def operation(kind: str, of: Payment, amount: int = 10_000) -> Operation:
    """Return a new capture, void or refund of a payment."""
    return Operation(ids.new_id().hex, kind, of.reference, "", amount, of.currency)


def page_path(asked: Payment) -> str:
    """Create a payment that its payer must approve; return the path of the page."""
    outcome = simulator.create_payment(asked)
    assert isinstance(outcome, ActionRequired)
    return outcome.url[outcome.url.index("/simulator/") :]
