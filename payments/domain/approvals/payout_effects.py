"""The changes to payouts that approved requests make."""

from collections.abc import Mapping
from typing import Any

from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import accounts, terms
from payments.domain.payouts.approve import Outcome, record_outcome
from payments.domain.payouts.terms import Terms
from payments.models import ApprovalRequest, PayoutSchedule

Kind = ApprovalRequest.Kind


def describe_schedule(schedule: PayoutSchedule | None) -> dict[str, Any]:
    """Return the terms of a schedule that a request to set it stores; nothing where there is none yet."""
    return {"currency": schedule.currency, **Terms.of(schedule).as_json()} if schedule else {}


def apply_payout_change(request: ApprovalRequest, credentials: Mapping[str, str]) -> None:
    """Apply the change of `request` in the caller's transaction.

    Raises BadPayoutAccount, BadSchedule, VaultUnavailable; Refused where the row was changed meanwhile.
    """
    given = request.parameters
    match request.kind:
        case Kind.ADD_PAYOUT_ACCOUNT:
            details = accounts.Details(given["currency"], given["holder"], given["bic"])
            accounts.add_account(request.merchant, True, details, credentials["number"], request.subject_id)
        case Kind.SET_PAYOUT_SCHEDULE:
            schedule = terms.schedule_of(request.merchant, True, given["currency"])
            if describe_schedule(schedule) != request.before:
                raise Refused("The schedule was changed since this was requested.")
            wanted = Terms(**{name: value for name, value in given.items() if name != "currency"})
            terms.set_schedule(request.merchant, True, given["currency"], wanted)
        case _:
            record_outcome(request.subject_id, Outcome(given["status"]), request.before["status"])
