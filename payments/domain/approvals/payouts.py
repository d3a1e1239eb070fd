"""What operators do about payouts: make one now, ask for its approval or give it, and cancel one.

A live payout is approved by another operator than the one who asked for it. One that a schedule made takes a single
operator up to their approval limit; above it the first approval is the request, and another one approves.
"""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction

from payments.db.writes import StaleRow
from payments.domain.approvals.executors import move, save
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import make, states
from payments.domain.payouts.states import detail_of
from payments.models import ApprovalRequest, Payout, PayoutSchedule
from payments.models.operators.approval_request import ApprovalRequestQuerySet

PAY_OUT, State = ApprovalRequest.Kind.PAY_OUT, ApprovalRequest.State


def requests_of(payout: Payout) -> ApprovalRequestQuerySet:
    """Return the requests to let the payout go out that wait for a decision: one at most."""
    proposed = ApprovalRequest.objects.proposed()
    return proposed.filter(merchant=payout.merchant_id, kind=PAY_OUT, subject_id=payout.id)


@transaction.atomic
def pay_out(schedule: PayoutSchedule, operator: User | None, reason: str) -> Payout:
    """Make a payout of what the balance has now, asked for by `operator` or by nobody. Raise NothingToPay."""
    payout = make.make_now(schedule.id, operator)
    audit_log.record(Action.ADDED, payout, detail=detail_of(payout))
    if operator and payout.livemode:
        ask_for(payout, operator, reason)
    return payout


def approvable(payouts: Iterable[Payout], operator: User) -> list[Payout]:
    """Return those that wait for approval, and for that of another than `operator` alone."""
    waiting = [each for each in payouts if each.waits_for_approval]
    own = ApprovalRequest.objects.proposed().filter(kind=PAY_OUT, proposed_by=operator)
    asked = own.filter(subject_id__in=[each.id for each in waiting]).values_list("subject_id", flat=True)
    return [each for each in waiting if each.id not in {*asked}]


@transaction.atomic
def cancel(payout: Payout) -> None:
    """Cancel a payout that is not on its way yet: the merchant's balance has the money again. Raise Refused."""
    # In the order of an approval, which would else wait for this one while this one waits for it.
    list(requests_of(payout).select_for_update(no_key=True))
    try:
        states.cancel(payout)
    except StaleRow:
        raise Refused("It cannot be cancelled any more: it is in a bank file, on its way, or has ended.") from None
    audit_log.record(Action.CANCELLED, payout, detail=detail_of(payout))
    for request in requests_of(payout):
        move(request, requests_of(payout), State.OVERTAKEN, "")


def ask_for(payout: Payout, operator: User, reason: str) -> ApprovalRequest:
    """Ask for the approval of a live payout, which a limit may give at once. Raise Refused."""
    asked = {"subject_id": payout.id, "reason": reason, "proposed_by": operator}
    request = ApprovalRequest(kind=PAY_OUT, merchant_id=payout.merchant_id, **asked)
    save(request)
    return request
