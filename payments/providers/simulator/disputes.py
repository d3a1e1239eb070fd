"""Disputes of the simulator: each test card has a story, whose steps are due some time after the money was taken."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction

from payments import clock
from payments.ids import public_id
from payments.providers.disputes import Disputed, Reason, Stage
from payments.providers.simulator.messages import write_message
from payments.providers.simulator.models import Entry, SimulatedPayment
from payments.providers.simulator.scenarios import Story

# The stages of each story, with the time from the one before.
STORIES: dict[Story, tuple[tuple[timedelta, Stage], ...]] = {
    Story.AT_ONCE: ((timedelta(), Stage.CHARGEBACK),),
    Story.INQUIRY: ((timedelta(), Stage.INQUIRY),),
    Story.LATER: ((timedelta(days=3), Stage.CHARGEBACK),),
    Story.WON: (
        (timedelta(), Stage.INQUIRY),
        (timedelta(days=1), Stage.CHARGEBACK),
        (timedelta(days=7), Stage.REVERSED),
    ),
    Story.LOST: ((timedelta(), Stage.CHARGEBACK), (timedelta(days=7), Stage.LOST_FINALLY)),
}
ENTRIES = {Stage.CHARGEBACK: Entry.Kind.DISPUTE, Stage.REVERSED: Entry.Kind.DISPUTE_WON}
EVIDENCE_TIME = timedelta(days=7)
REASON_CODES = {Reason.FRAUDULENT: "10.4", Reason.NOT_RECEIVED: "13.1"}


def first_due_at(payment: SimulatedPayment) -> datetime | None:
    """Return when the first step of a payment's story is due, whose money is taken now; None without a story."""
    return clock.now() + STORIES[Story(payment.story)][0][0] if payment.story else None


def advance_due(limit: int, among: Collection[str] | None = None) -> None:
    """Take the due step of up to `limit` payments' stories, of all or of the references `among`."""
    due = SimulatedPayment.objects.filter(dispute_due_at__lte=clock.now())
    due = due if among is None else due.filter(reference__in=among)
    for payment in due.order_by("dispute_due_at")[:limit]:
        with transaction.atomic():
            _advance(payment)


def _advance(payment: SimulatedPayment) -> None:
    """Take the due step, unless another process took it, or the payment was voided meanwhile."""
    steps = STORIES[Story(payment.story)]
    stage, following = steps[payment.dispute_step][1], steps[payment.dispute_step + 1 :]
    was = {"id": payment.id, "dispute_step": payment.dispute_step, "dispute_due_at": payment.dispute_due_at}
    if payment.state != SimulatedPayment.State.CAPTURED:
        SimulatedPayment.objects.filter(**was, state=payment.state).update(dispute_due_at=None)
        return
    values = {
        "dispute_step": payment.dispute_step + 1,
        "dispute_due_at": clock.now() + following[0][0] if following else None,
        "amount_disputed": _amount_after(payment, stage),
    }
    if SimulatedPayment.objects.filter(**was, state=payment.state).update(**values) == 1:
        if stage in ENTRIES:
            amount = payment.amount_captured
            Entry.objects.create(payment=payment, reference=payment.reference, kind=ENTRIES[stage], amount=amount)
        write_message(payment.reference, _disputed(payment, stage))


def _amount_after(payment: SimulatedPayment, stage: Stage) -> int:
    """Return how much the payer's bank has after `stage`."""
    return {Stage.CHARGEBACK: payment.amount_captured, Stage.REVERSED: 0}.get(stage, payment.amount_disputed)


def _disputed(payment: SimulatedPayment, stage: Stage) -> Disputed:
    reason = Reason.NOT_RECEIVED if payment.story == Story.LATER else Reason.FRAUDULENT
    return Disputed(
        provider_ref=public_id("sd", payment.id),
        stage=stage,
        amount=payment.amount_captured,
        currency=payment.currency,
        reason=reason,
        network_code=REASON_CODES[reason],
        network_ref=f"{payment.id.int % 10**23:023}",
        evidence_due_at=clock.now() + EVIDENCE_TIME if stage in (Stage.CHARGEBACK, Stage.INQUIRY) else None,
    )
