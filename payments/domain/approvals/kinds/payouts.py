"""Where and when a merchant's money goes, that a payout or a bank file goes out, and what the bank did with it."""

from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.approvals.executors import NO_CREDENTIALS, Credentials, Executor, register
from payments.domain.approvals.kinds.changes import register_change
from payments.domain.approvals.limits import limit_for
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import accounts, files, states, terms
from payments.domain.payouts.accounts import BadPayoutAccount
from payments.domain.payouts.states import detail_of
from payments.domain.payouts.terms import BadSchedule, Terms
from payments.failpoints import Failpoint, reached
from payments.ids import public_id
from payments.models import ApprovalRequest, Payout, PayoutFile, PayoutSchedule
from payments.money import shown_amount
from payments.providers.simulator import payouts as simulated_bank

Kind, State = ApprovalRequest.Kind, ApprovalRequest.State
Status = Payout.Status


class Outcome(StrEnum):
    """What the bank did with a payout that went in a file."""

    PAID = "paid"
    RETURNED = "returned"


def describe_schedule(schedule: PayoutSchedule | None) -> dict[str, Any]:
    """Return the terms of a schedule that a request to set it stores; nothing where there is none yet."""
    return {"currency": schedule.currency, **Terms.of(schedule).as_json()} if schedule else {}


def _add_account(request: ApprovalRequest, credentials: Credentials) -> None:
    asked = request.after
    details = accounts.Details(asked["currency"], asked["holder"], asked["bic"])
    accounts.add_account(request.merchant, True, details, credentials["number"], request.subject_id)


def _set_schedule(request: ApprovalRequest, _: Credentials) -> None:
    asked = dict(request.after)
    currency = asked.pop("currency")
    if describe_schedule(terms.schedule_of(request.merchant, True, currency)) != request.before:
        raise Refused("The schedule was changed since this was requested.")
    terms.set_schedule(request.merchant, True, currency, Terms(**asked))


def outcomes_of(payout: Payout) -> list[Outcome]:
    """Return what operators may record of a payout: only of one that went in a bank file, whose end nobody reports.

    In test mode the simulated bank says what it paid, and a statement of ours may say that it came back.
    """
    if payout.provider_account_id:
        return []
    match payout.status:
        case Status.IN_TRANSIT if payout.livemode:
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
        states.mark_paid(payout) if outcome is Outcome.PAID else states.mark_failed(payout, Outcome.RETURNED)
    except StaleRow:
        raise Refused("The payout was changed meanwhile.") from None
    if not payout.livemode:
        # The simulated bank has it back too.
        simulated_bank.refuse(payout.id.hex)
    audit_log.record(Action.DONE, payout, fields=["status"], detail=f"{detail_of(payout)}, {outcome}")


def _record(request: ApprovalRequest, _: Credentials) -> None:
    record_outcome(request.subject_id, Outcome(request.after["status"]), request.before["status"])


def _describe(request: ApprovalRequest) -> str:
    about = public_id("po" if request.kind == Kind.PAY_OUT else "pf", request.subject_id)
    return f"{request.get_kind_display().lower()} {shown_amount(request.amount, request.currency)}, {about}"


def _ask_for_payout(request: ApprovalRequest, _: Credentials) -> None:
    """Fill in a new request; its requester is enough for a payout of a schedule, up to their limit."""
    payout = Payout.objects.select_for_update(no_key=True).get(id=request.subject_id, merchant=request.merchant_id)
    _refuse_unless_waiting(payout)
    request.amount, request.currency = payout.amount, payout.currency
    request.limit = limit_for(payout, request.proposed_by)
    if request.limit is not None and payout.amount <= request.limit:
        request.state = _let_payout_out(request, NO_CREDENTIALS)


def _let_payout_out(request: ApprovalRequest, _: Credentials) -> ApprovalRequest.State:
    """Let the payout go out by `request`, which the same transaction ends as done."""
    payout = Payout.objects.get(id=request.subject_id, merchant=request.merchant_id)
    _refuse_unless_waiting(payout)
    waiting = Payout.objects.filter(id=payout.id, merchant=payout.merchant_id, status=Status.PENDING, approval=None)
    if not waiting.update(approval=request.id, approved_at=clock.now()):
        raise Refused("It was approved or changed meanwhile.")
    reached(Failpoint.LET_OUT)
    audit_log.record(Action.APPROVED, payout, detail=detail_of(payout))
    return State.DONE


def _refuse_unless_waiting(payout: Payout) -> None:
    if not payout.waits_for_approval:
        raise Refused(f"It does not wait for approval: it is {payout.get_status_display().lower()}.")


def _ask_for_file(request: ApprovalRequest, _: Credentials) -> None:
    file = PayoutFile.objects.select_for_update(no_key=True).get(id=request.subject_id)
    if not file.is_open:
        raise Refused(files.TOO_LATE)
    request.amount, request.currency = file.total, file.currency


def _let_file_out(request: ApprovalRequest, _: Credentials) -> ApprovalRequest.State:
    file = PayoutFile.objects.get(id=request.subject_id)
    # Who made a file does not let it out, also where another person asked for it.
    if request.decided_by_id == file.created_by_id:
        raise Refused("Who made the file does not approve that it is sent.")
    files.mark_sent(file)
    reached(Failpoint.LET_OUT)
    return State.DONE


register([Kind.PAY_OUT], Executor(_describe, _ask_for_payout, _let_payout_out))
register([Kind.SEND_FILE], Executor(_describe, _ask_for_file, _let_file_out))
register_change(Kind.ADD_PAYOUT_ACCOUNT, _add_account, BadPayoutAccount)
register_change(Kind.SET_PAYOUT_SCHEDULE, _set_schedule, BadSchedule)
register_change(Kind.RECORD_PAYOUT, _record)
