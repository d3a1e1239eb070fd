"""Time that passes: sweeps that run, what a provider does after everybody thought it was over, and longer holds."""

import dataclasses
from datetime import timedelta
from typing import Any

from payments import clock
from payments.domain.charging import operations, recovery
from payments.domain.charging.attempts import payment_of
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import Result
from payments.ids import parse_id
from payments.models import Attempt, Charge
from payments.providers.base import Approved, CardData, Payment, WebhookEvent
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedOperation
from payments.tasks import run_sweep
from tests.client import APPROVED

WEEK = timedelta(days=7)


def let_time_pass(model: Any, field: str) -> None:
    """Make everything that waits for `field` due."""
    model.objects.filter(**{f"{field}__isnull": False}).update(**{field: clock.now() - timedelta(seconds=1)})


def recover() -> None:
    let_time_pass(Attempt, "due_at")
    recovery.resolve_due()


def arrive_late(attempt: Attempt) -> WebhookEvent:
    """Deliver the delayed request of `attempt` to the provider, which reports it."""
    outcome = Simulator().create_payment(_with_good_card(payment_of(attempt)))
    assert isinstance(outcome, Approved)
    return WebhookEvent(attempt.reference, outcome)


def _with_good_card(payment: Payment) -> Payment:
    # Our own copy of the number is destroyed by then.
    card = CardData(APPROVED, "12", "2039", "Juan dela Cruz")
    return dataclasses.replace(payment, card=card, authenticate=False)


def settle_refunds() -> None:
    """Refunds come to the end that their card is known for, and the simulator reports it."""
    let_time_pass(SimulatedOperation, "settles_at")
    run_sweep("apply_simulator_messages")


def row_of(charge: dict[str, Any]) -> Charge:
    """Return the charge of an API's answer, read again."""
    return Charge.objects.get(id=parse_id("ch", charge["id"]))


def extend(charge: dict[str, Any]) -> Result[Charge]:
    """Return how the extension ended. Raise PaymentError."""
    return operations.extend(Caller.service(row_of(charge)), charge["id"])


def stands(charge: dict[str, Any]) -> tuple[bool, int, str]:
    """Whether it is held, by how many days that was extended, and what is under way."""
    row = row_of(charge)
    return row.authorized, row.hold_extended_days, row.operation
