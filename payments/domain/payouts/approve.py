"""What operators do about payouts: make one now, approve, cancel, and record what the bank did with one of a file.

A live payout is approved by another operator than the one who asked for it. One that a schedule made takes a single
operator up to their approval limit; above it the first approval counts as the request, and another one approves.
"""

from enum import StrEnum
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Refused, limit_of, refuse_new
from payments.domain.payouts import make, states
from payments.models import Payout, PayoutSchedule
from payments.money import shown_amount

Status = Payout.Status
RETURNED = "returned"


class Outcome(StrEnum):
    """What the bank did with a payout that went in a file."""

    PAID = "paid"
    RETURNED = "returned"


@transaction.atomic
def pay_out(schedule: PayoutSchedule, operator: User | None) -> Payout:
    """Make a payout of what the balance has now, asked for by `operator` or by nobody. Raise NothingToPay."""
    payout = make.make_now(schedule.id, operator)
    audit_log.record(Action.ADDED, payout, detail=_detail(payout))
    return payout


def waits_for_approval(payout: Payout) -> bool:
    """Return whether the payout must be approved, and is not yet."""
    return payout.livemode and payout.status == Status.PENDING and payout.approved_at is None


@transaction.atomic
def approve(payout: Payout, operator: User) -> bool:
    """Approve a live payout; return whether it is approved now, or waits for another operator. Raise Refused."""
    if not waits_for_approval(payout):
        raise Refused(f"It does not wait for approval: it is {payout.get_status_display().lower()}.")
    if payout.requested_by_id == operator.pk:
        raise Refused("Nobody approves a payout that they asked for. Another operator must.")
    if payout.requested_by_id is not None:
        refuse_new(operator, payout.merchant_id)
    is_approved = payout.requested_by_id is not None or _is_within_limit(payout, operator)
    approval = {"approved_by": operator, "approved_at": clock.now()}
    values = approval if is_approved else {"requested_by": operator}
    unchanged = Payout.objects.filter(
        id=payout.id,
        merchant_id=payout.merchant_id,
        status=Status.PENDING,
        approved_at=None,
        requested_by=payout.requested_by_id,
    )
    if not unchanged.update(**values):
        raise Refused("It was approved or changed meanwhile.")
    payout.refresh_from_db()
    action = Action.APPROVED if is_approved else Action.PROPOSED
    audit_log.record(action, payout, detail=_detail(payout))
    return is_approved


@transaction.atomic
def cancel(payout: Payout) -> None:
    """Cancel a payout that is not on its way yet: the merchant's balance has the money again. Raise Refused."""
    try:
        states.cancel(payout)
    except StaleRow:
        raise Refused("It cannot be cancelled any more: it is in a bank file, on its way, or has ended.") from None
    audit_log.record(Action.CANCELLED, payout, detail=_detail(payout))


def outcomes_of(payout: Payout) -> list[Outcome]:
    """Return what operators may record of a payout: only of one that went in a bank file, whose end nobody reports."""
    if not payout.livemode or payout.provider_account_id:
        return []
    match payout.status:
        case Status.IN_TRANSIT:
            return [Outcome.PAID, Outcome.RETURNED]
        case Status.PAID:
            return [Outcome.RETURNED]
        case _:
            return []


@transaction.atomic
def record_outcome(payout_id: UUID, outcome: Outcome, was: str) -> None:
    """Record the end of a payout that is still as it `was`. Raise Refused."""
    payout = Payout.objects.select_related("account").get(id=payout_id)
    if payout.status != was or outcome not in outcomes_of(payout):
        raise Refused(f"The payout is {payout.get_status_display().lower()} now.")
    try:
        states.mark_paid(payout) if outcome is Outcome.PAID else states.mark_failed(payout, RETURNED)
    except StaleRow:
        raise Refused("The payout was changed meanwhile.") from None
    audit_log.record(Action.DONE, payout, fields=["status"], detail=f"{_detail(payout)}, {outcome}")


def _is_within_limit(payout: Payout, operator: User) -> bool:
    most = limit_of(operator, payout.currency)
    return most is not None and payout.amount <= most


def _detail(payout: Payout) -> str:
    return f"{shown_amount(payout.amount, payout.currency)}, {'live' if payout.livemode else 'test'} mode"
