"""Time that passes for one source and all that follows from it: every deadline comes nearer."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import F

from payments import clock
from payments.models import (
    ApprovalRequest,
    Attempt,
    Charge,
    Checkout,
    Dispute,
    Payout,
    PayoutPart,
    PayoutSchedule,
    Webhook,
)
from payments.providers.references import check_reference
from payments.providers.simulator.models import Message, SimulatedOperation, SimulatedPayment, SimulatedPayout


def let_pass(source_id: UUID, seconds: int) -> None:
    """Bring all of the simulator's messages nearer, because their owners are not known."""
    attempts = Attempt.objects.filter(charge__source_id=source_id)
    references = [attempt.reference for attempt in attempts]
    _nearer(attempts, seconds, "due_at")
    _nearer(Charge.objects.filter(source_id=source_id), seconds, "action_expires_at")
    _nearer(SimulatedPayment.objects.filter(reference__in=references, state="awaiting"), seconds, "expires_at")
    _nearer(SimulatedOperation.objects.filter(payment__reference__in=references), seconds, "settles_at")
    _nearer(Dispute.objects.filter(charge__source_id=source_id), seconds, "response_due_at")
    _nearer(Message.objects.filter(delivered_at=None), seconds, "due_at")


def let_pass_for_check(checkout_id: UUID | None, seconds: int) -> None:
    """Let time pass for the check of a card that a session keeps."""
    rows = Checkout.objects.filter(id=checkout_id, check_due_at__isnull=False)
    references = [check_reference(source_id) for source_id in rows.values_list("check_source_id", flat=True)]
    _nearer(SimulatedPayment.objects.filter(reference__in=references, state="awaiting"), seconds, "expires_at")
    _nearer(rows, seconds, "updated_at")
    _nearer(rows, seconds, "check_due_at")


def let_approvals_pass(merchant_id: UUID, seconds: int) -> None:
    """Let time pass for what is approved and not executed."""
    _nearer(ApprovalRequest.objects.approved().filter(merchant=merchant_id), seconds, "updated_at")


def let_leases_end(merchant_id: UUID, seconds: int) -> None:
    """Also brings nearer what is due to be sent to the merchant."""
    waiting = Webhook.objects.filter(merchant_id=merchant_id, state="waiting")
    _nearer(waiting, seconds, "due_at")
    _nearer(waiting, seconds, "leased_until")


def let_responses_end(source_id: UUID, seconds: int) -> None:
    """Bring the responses to disputes nearer that a worker has claimed."""
    _nearer(Dispute.objects.filter(charge__source_id=source_id), seconds, "response_due_at")


def let_days_pass_for_payouts(merchant_id: UUID, days: int) -> None:
    """Bring nearer what the payouts of the merchant wait for, and let its schedule be due."""
    seconds = days * 86_400
    _nearer(PayoutPart.objects.filter(merchant_id=merchant_id, payout=None), seconds, "payable_at")
    payouts = Payout.objects.filter(merchant_id=merchant_id)
    references = [payout_id.hex for payout_id in payouts.values_list("id", flat=True)]
    _nearer(SimulatedPayout.objects.filter(reference__in=references), seconds, "due_at")
    _nearer(payouts, seconds, "due_at")
    _nearer(Payout.objects.filter(merchant_id=merchant_id), seconds, "reserve_due_at")
    PayoutSchedule.objects.filter(merchant_id=merchant_id).update(next_at=clock.now())


def _nearer(rows: Any, seconds: int, field: str) -> None:
    rows.filter(**{f"{field}__isnull": False}).update(**{field: F(field) - timedelta(seconds=seconds)})
