"""Where and when a merchant's money goes, and what the bank did with a payout."""

from typing import Any

from payments.domain.approvals.executors import Credentials
from payments.domain.approvals.kinds.changes import register_change
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import accounts, terms
from payments.domain.payouts.accounts import BadPayoutAccount
from payments.domain.payouts.approve import Outcome, record_outcome
from payments.domain.payouts.terms import BadSchedule, Terms
from payments.models import ApprovalRequest, PayoutSchedule

Kind = ApprovalRequest.Kind


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


def _record(request: ApprovalRequest, _: Credentials) -> None:
    record_outcome(request.subject_id, Outcome(request.after["status"]), request.before["status"])


register_change(Kind.ADD_PAYOUT_ACCOUNT, _add_account, BadPayoutAccount)
register_change(Kind.SET_PAYOUT_SCHEDULE, _set_schedule, BadSchedule)
register_change(Kind.RECORD_PAYOUT, _record)
