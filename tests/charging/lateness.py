"""What a provider does after everybody thought it was over."""

import dataclasses

from payments.domain.charging.attempts import payment_of
from payments.models import Attempt
from payments.providers.base import Approved, CardData, Payment, WebhookEvent
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedOperation
from payments.tasks import run_sweep
from tests.charging.elapsed_time import let_time_pass
from tests.client import APPROVED


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
