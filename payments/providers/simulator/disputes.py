"""Disputes of the simulator: each test card has a story, whose steps are due some time after the money was taken."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from payments import clock
from payments.db.fast_model import copy_with
from payments.ids import public_id
from payments.providers.base import Approved, Outcome, Rejected, Unknown
from payments.providers.disputes import Disputed, DisputeResponse, Reason, Response, Stage
from payments.providers.simulator.messages import write_message
from payments.providers.simulator.models import Entry, SimulatedPayment
from payments.providers.simulator.scenarios import Story

WEEK = timedelta(days=7)
# The stages of each story, with the time from the one before.
STORIES: dict[Story, tuple[tuple[timedelta, Stage], ...]] = {
    Story.AT_ONCE: ((timedelta(), Stage.CHARGEBACK), (WEEK, Stage.EXPIRED)),
    Story.INQUIRY: ((timedelta(), Stage.INQUIRY),),
    Story.LATER: ((timedelta(days=3), Stage.CHARGEBACK), (WEEK, Stage.EXPIRED)),
    Story.WON: ((timedelta(), Stage.INQUIRY), (timedelta(days=1), Stage.CHARGEBACK), (WEEK, Stage.REVERSED)),
    Story.LOST: ((timedelta(), Stage.CHARGEBACK), (WEEK, Stage.LOST_FINALLY)),
}
ENTRIES = {Stage.CHARGEBACK: Entry.Kind.DISPUTE, Stage.REVERSED: Entry.Kind.DISPUTE_WON}
# What follows evidence in the other stories, and the text that wins.
DECIDED_BY_EVIDENCE = (Story.AT_ONCE, Story.INQUIRY, Story.LATER)
DECISION_TIME = timedelta(days=1)
WINNING_TEXT = "winning_evidence"
REASON_CODES = {Reason.FRAUDULENT: "10.4", Reason.NOT_RECEIVED: "13.1"}


def first_due_at(payment: SimulatedPayment) -> datetime | None:
    """Return when the first step of a payment's story is due, whose money is taken now; None without a story."""
    return clock.now() + STORIES[Story(payment.story)][0][0] if payment.story else None


def _steps(payment: SimulatedPayment) -> tuple[tuple[timedelta, Stage], ...]:
    """Return the steps of a payment's story, as far as the merchant's response leaves them."""
    story = Story(payment.story)
    steps, response = STORIES[story], payment.dispute_response
    if response == Response.ACCEPT:
        return steps[: payment.dispute_step]
    if not response or story not in DECIDED_BY_EVIDENCE:
        return steps
    decision = Stage.REVERSED if response == "winning" else Stage.LOST_FINALLY
    return (*steps[:1], (DECISION_TIME, Stage.INQUIRY_CLOSED if story == Story.INQUIRY else decision))


def respond(asked: DisputeResponse, payment: SimulatedPayment | None) -> Outcome:
    """Take a merchant's response about `payment`; the same as before changes nothing."""
    if payment is None or asked.provider_ref != public_id("sd", payment.id):
        return Rejected("dispute_not_found", "There is no such dispute.")
    has_won = any(WINNING_TEXT in piece.content for piece in asked.evidence)
    response = "accept" if asked.response is Response.ACCEPT else "winning" if has_won else "losing"
    if payment.dispute_response == response:
        return Approved(asked.provider_ref)
    stage = STORIES[Story(payment.story)][payment.dispute_step - 1][1]
    if payment.dispute_response or stage not in (Stage.INQUIRY, Stage.CHARGEBACK):
        return Rejected("dispute_not_defendable", "This dispute takes no response now.")
    was = {"id": payment.id, "dispute_step": payment.dispute_step, "dispute_response": ""}
    following = _steps(copy_with(payment, {"dispute_response": response}))[payment.dispute_step :]
    values = {"dispute_response": response, "dispute_due_at": _due_at(payment, following)}
    if SimulatedPayment.objects.filter(**was).update(**values) == 1:
        return Approved(asked.provider_ref)
    return Unknown("the dispute changed meanwhile")


def _due_at(payment: SimulatedPayment, following: Sequence[tuple[timedelta, Stage]]) -> datetime | None:
    """Return when the next step after a response is due."""
    if not following:
        return None
    return clock.now() + following[0][0] if payment.story in DECIDED_BY_EVIDENCE else payment.dispute_due_at


def advance_due(limit: int, among: Collection[str] | None = None) -> None:
    """Take the due step of up to `limit` payments' stories, of all or of the references `among`."""
    due = SimulatedPayment.objects.filter(dispute_due_at__lte=clock.now())
    due = due if among is None else due.filter(reference__in=among)
    for payment in due.order_by("dispute_due_at")[:limit]:
        with transaction.atomic():
            _advance(payment)


def _advance(payment: SimulatedPayment) -> None:
    """Take the due step, unless another process took it, or the payment was voided meanwhile."""
    steps = _steps(payment)
    stage, following = steps[payment.dispute_step][1], steps[payment.dispute_step + 1 :]
    names = ("id", "dispute_step", "dispute_due_at", "dispute_response")
    was = {name: getattr(payment, name) for name in names}
    if payment.state != SimulatedPayment.State.CAPTURED:
        SimulatedPayment.objects.filter(**was, state=payment.state).update(dispute_due_at=None)
        return
    values = {
        "dispute_step": payment.dispute_step + 1,
        "dispute_due_at": clock.now() + following[0][0] if following else None,
        "amount_disputed": _amount_after(payment, stage),
        # The bank asks again when it takes the money.
        "dispute_response": "" if stage == Stage.CHARGEBACK else payment.dispute_response,
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
        evidence_due_at=clock.now() + WEEK if stage in (Stage.CHARGEBACK, Stage.INQUIRY) else None,
    )
