"""Corrections of unknown outcomes that lookups do not resolve.

An approval and the outcome are recorded in one transaction, so a process that dies leaves either an open proposal or a
recorded outcome. That transaction makes no network call.
"""

from contextlib import suppress

from django.core.exceptions import ValidationError

from payments.domain.approvals.executors import Credentials, Executor, register
from payments.domain.charging import attempts, record_outcome
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.models import ApprovalRequest, Attempt, Charge, Correction, UnknownOutcome
from payments.providers.base import Approved, Declined, NotFound, Outcome
from payments.providers.failure_data import REASONS

State, ProposedOutcome = Correction.State, Correction.Outcome
PROOFS = {
    ProposedOutcome.APPROVED: ["reference"],
    ProposedOutcome.DECLINED: ["code"],
    ProposedOutcome.NEVER_ARRIVED: [],
}


def proposed_outcome(correction: ApprovalRequest) -> str:
    """Return the outcome that a correction proposes, and its proof."""
    proof = correction.after["reference"] or correction.after["code"]
    outcome: str = correction.after["outcome"].replace("_", " ")
    return f"{outcome} ({proof})" if proof else outcome


def _prepare(correction: ApprovalRequest, _: Credentials) -> None:
    """Fill in a new correction of an attempt.

    Raises ValidationError where it is malformed, or the outcome is known by now.
    """
    attempt, after = correction.attempt, correction.after
    correction.subject_id = attempt.id
    correction.merchant_id, correction.charge_id = attempt.merchant_id, attempt.charge_id
    correction.amount, correction.currency = attempt.amount, attempt.charge.currency
    if PROOFS.get(after["outcome"]) != [name for name in ("reference", "code") if after[name]]:
        raise ValidationError("An approval needs the provider's reference, a decline its code, and no other.")
    if after["outcome"] == ProposedOutcome.DECLINED and after["code"] not in REASONS:
        raise ValidationError({"code": "This is not a decline code."})
    if not UnknownOutcome.objects.filter(id=attempt.id).exists():
        raise ValidationError("The outcome of this attempt is known by now.")
    if attempt.kind == Attempt.Kind.REVERSE and after["outcome"] != ProposedOutcome.APPROVED:
        raise ValidationError({"outcome": "A reversal is retried until it succeeds. Only approval can be recorded."})


def _apply(correction: ApprovalRequest, _: Credentials) -> ApprovalRequest.State:
    """Record the proposed outcome, unless it is known by now."""
    # Both are locked until the transaction ends, so that a lookup waits.
    locked = Attempt.objects.select_for_update(no_key=True).get(id=correction.subject_id)
    Charge.objects.select_for_update(no_key=True).get(id=locked.charge_id)
    attempt = attempts.reload(locked)
    if not attempt.is_unresolved:
        return State.OVERTAKEN
    # The refusal is stored as the merchant's answer by then.
    with suppress(PaymentError):
        record_outcome.record(Caller.service(attempt.charge), attempt, _outcome(correction, attempt.charge))
    return State.DONE


def _outcome(correction: ApprovalRequest, charge: Charge) -> Outcome:
    after = correction.after
    match after["outcome"]:
        case ProposedOutcome.APPROVED:
            return Approved(after["reference"], captured=charge.capture_at_once)
        case ProposedOutcome.DECLINED:
            return Declined(after["code"], provider_code=after["code"])
        case ProposedOutcome.NEVER_ARRIVED:
            return NotFound()
        case unknown:
            raise ValueError(unknown)


register(Correction.KINDS, Executor(proposed_outcome, _prepare, _apply))
