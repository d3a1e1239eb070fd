"""Test cards whose payments are disputed, and the time that their disputes take."""

from datetime import timedelta
from typing import Any

from django.db.models import F

from payments import clock
from payments.domain.charging import attempts
from payments.domain.disputes import record
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.models import Attempt, Charge, Dispute
from payments.providers.disputes import Disputed, Stage
from payments.providers.simulator.models import SimulatedPayment
from tests.client import Api, made

AT_ONCE, INQUIRY, LATER = "4000000000000259", "4000000000001976", "4000000000002685"
WON, LOST = "4000000000004269", "4000000000004277"


def disputed(api: Api, number: str, **members: Any) -> dict[str, Any]:
    """Return a charge on a card, whose payer's bank has taken its first step."""
    charge = api.charge(number, **members)
    deliver()
    return charge


def deliver() -> int:
    """Deliver what the simulator has to report; return how many reports."""
    return apply_simulator_messages()


def a_week_passes() -> None:
    """Let a week pass for disputes, and deliver what is reported then."""
    waiting = SimulatedPayment.objects.filter(dispute_due_at__isnull=False)
    waiting.update(dispute_due_at=F("dispute_due_at") - timedelta(days=7))
    deliver()


def make_dispute(charge: Charge, **members: Any) -> Dispute:
    """Record a chargeback of a captured charge, due in a week."""
    due_at = clock.now() + timedelta(days=7)
    given = {"amount": charge.amount_captured, "currency": charge.currency, "evidence_due_at": due_at, **members}
    attempt = attempts.reload(Attempt.objects.get(charge=charge, kind="authorize", passed_on=False))
    record.record(attempt, Disputed("D1", Stage.CHARGEBACK, **given))
    return Dispute.objects.get(charge=charge, provider_ref="D1")


def dispute_on(api: Api, card: str = AT_ONCE) -> str:
    """Return the path of the dispute of a new charge on this card."""
    charge = disputed(api, card)
    return f"/disputes/{made(api.get('/disputes/', charge=charge['id']))['data'][0]['id']}"
