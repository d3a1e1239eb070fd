"""What operators do about payouts and bank files: make one now, ask for its approval or give it, and cancel one.

A live payout is approved by another operator than the one who asked for it. One that a schedule made takes a single
operator up to their approval limit; above it the first approval is the request, and another one approves.
Who makes a bank file asks that it is marked as sent, and another operator approves that.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from payments.db.writes import StaleRow
from payments.domain.approvals.executors import move, save
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import files, make, states
from payments.domain.payouts.states import detail_of
from payments.models import ApprovalRequest, Payout, PayoutFile, PayoutSchedule
from payments.models.operators.approval_request import ApprovalRequestQuerySet
from payments.models.operators.approval_rules import PAYING_OUT
from payments.vault import with_prefetched_keys

Kind, State = ApprovalRequest.Kind, ApprovalRequest.State
GoesOut = Payout | PayoutFile


def requests_of(row: GoesOut) -> ApprovalRequestQuerySet:
    """Return the requests to let a payout or a bank file go out that wait for a decision: one at most."""
    proposed = ApprovalRequest.objects.proposed()
    return proposed.filter(merchant=row.merchant_id, kind__in=PAYING_OUT, subject_id=row.id)


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
    own = ApprovalRequest.objects.proposed().filter(kind=Kind.PAY_OUT, proposed_by=operator)
    asked = own.filter(subject_id__in=[each.id for each in waiting]).values_list("subject_id", flat=True)
    return [each for each in waiting if each.id not in {*asked}]


def cancel(payout: Payout) -> None:
    """Cancel a payout that is not on its way yet: the merchant's balance has the money again. Raise Refused."""
    with _overtaking_requests(payout):
        try:
            states.cancel(payout)
        except StaleRow:
            raise Refused("It cannot be cancelled any more: it is in a bank file, on its way, or has ended.") from None
        audit_log.record(Action.CANCELLED, payout, detail=detail_of(payout))


@with_prefetched_keys
@transaction.atomic
def make_file(file_id: UUID, currency: str, execute_on: date, operator: User, reason: str) -> PayoutFile:
    """Make a bank file, and ask another operator to say that the bank has it. Raise as `files.make` does."""
    file = files.make(file_id, currency, execute_on, operator)
    ask_for(file, operator, reason)
    return file


def cancel_file(file: PayoutFile, operator: User) -> None:
    """Cancel a bank file that was not sent, and what was asked about it. Raise as `files.cancel` does."""
    with _overtaking_requests(file):
        files.cancel(file, operator)


def ask_for(row: GoesOut, operator: User, reason: str) -> ApprovalRequest:
    """Ask for the approval of a live payout, which a limit may give at once, or of a bank file. Raise Refused."""
    kind = Kind.SEND_FILE if isinstance(row, PayoutFile) else Kind.PAY_OUT
    asked = {"subject_id": row.id, "reason": reason, "proposed_by": operator}
    request = ApprovalRequest(kind=kind, merchant_id=row.merchant_id, **asked)
    save(request)
    return request


@contextmanager
def _overtaking_requests(row: GoesOut) -> Iterator[None]:
    """End the requests about a row that the block cancels."""
    with transaction.atomic():
        # In the order of an approval, which would else wait for this one while this one waits for it.
        list(requests_of(row).select_for_update(no_key=True))
        yield
        for request in requests_of(row):
            move(request, requests_of(row), State.OVERTAKEN, "")
