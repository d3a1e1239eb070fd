"""Corrections of unknown outcomes that lookups do not resolve: proposed by one operator, approved by another.

An approval and the outcome are recorded in one transaction, so a process that dies leaves either an open proposal or a
recorded outcome. That transaction makes no network call.
"""

import logging
from contextlib import suppress
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.caller import Caller
from payments.domain.charging import attempts, record_outcome
from payments.domain.errors import PaymentError
from payments.domain.operators.four_eyes import Operator, Refused, decision
from payments.domain.operators.summary import proposed_outcome
from payments.models import Attempt, Charge, Correction, UnknownOutcome
from payments.models.charging.attempt import UNRESOLVED
from payments.providers.base import Approved, Declined, NotFound, Outcome
from payments.providers.failure_data import REASONS

logger = logging.getLogger("kaha.corrections")

State = Correction.State
ProposedOutcome = Correction.Outcome


def propose(correction: Correction) -> None:
    """Save `correction`, a new row with attempt, proposer, outcome and evidence, for a second operator to decide.

    Raises ValidationError where it is malformed, the outcome is known by now, or another proposal is open.
    """
    attempt = correction.attempt
    correction.merchant_id = attempt.merchant_id
    correction.full_clean()
    if not UnknownOutcome.objects.filter(id=attempt.id).exists():
        raise ValidationError("The outcome of this attempt is known by now.")
    if correction.outcome == ProposedOutcome.DECLINED and correction.decline_code not in REASONS:
        raise ValidationError({"decline_code": "This is not a decline code."})
    if attempt.kind == Attempt.Kind.REVERSE and correction.outcome != ProposedOutcome.APPROVED:
        raise ValidationError({"outcome": "A reversal is retried until it succeeds. Only approval can be recorded."})
    try:
        with transaction.atomic():
            correction.save(force_insert=True)
            detail = proposed_outcome(correction)
            audit_log.record(Action.PROPOSED, correction, detail=detail, reason=correction.evidence)
    except IntegrityError as error:
        raise ValidationError("Somebody else has proposed an outcome at this moment.") from error


def approve(correction: Correction, approver: Operator, note: str) -> Correction:
    """Record the proposed outcome; return the correction, overtaken where the provider's own answer came first.

    Raises Refused for one's own proposal, for one that is no longer open, for an empty note, and where the database
    fails; ValidationError for a note that holds a secret.
    """
    decided = decision(correction, approver, note)
    try:
        with transaction.atomic():
            return _approve(correction, decided)
    except DatabaseError as error:
        logger.exception("correction could not be recorded", extra={"attempt": correction.attempt_id.hex})
        raise Refused("The outcome could not be recorded. The proposal is still open.") from error


def reject(correction: Correction, decider: Operator, note: str) -> None:
    """Reject the proposal; the outcome stays unknown. Raises Refused as `approve` does."""
    _end(correction, State.REJECTED, note, **decision(correction, decider, note))


def withdraw(correction: Correction, proposer: Operator, reason: str = "") -> None:
    """Withdraw one's own proposal. Raises Refused for somebody else's, and for one that is no longer open."""
    if correction.proposed_by_id != proposer.pk:
        raise Refused("Only the proposer may withdraw a proposal.")
    _end(correction, State.WITHDRAWN, reason)


def close_overtaken() -> int:
    """End the proposals of outcomes that became known in another way; return how many."""
    overtaken = Correction.objects.proposed().exclude(attempt__in=Attempt.objects.filter(UNRESOLVED))
    return sum(_overtake(correction) for correction in overtaken)


def _approve(correction: Correction, decided: dict[str, Any]) -> Correction:
    # Both are locked until the transaction ends, so that a lookup waits.
    locked = Attempt.objects.select_for_update(no_key=True).get(id=correction.attempt_id)
    Charge.objects.select_for_update(no_key=True).get(id=locked.charge_id)
    attempt = attempts.reload(locked)
    if attempt.is_unresolved:
        _end(correction, State.APPROVED, decided["note"], **decided)
        # The refusal is stored as the merchant's answer by then.
        with suppress(PaymentError):
            record_outcome.record(Caller.service(attempt.charge), attempt, _outcome(correction, attempt.charge))
    else:
        _end(correction, State.OVERTAKEN)
    # A database error during recording surfaces here, and rolls the decision back.
    correction.refresh_from_db()
    logger.info("correction decided", extra={"attempt": attempt.reference, "state": correction.state})
    return correction


def _outcome(correction: Correction, charge: Charge) -> Outcome:
    match correction.outcome:
        case ProposedOutcome.APPROVED:
            return Approved(correction.provider_ref, captured=charge.capture_at_once)
        case ProposedOutcome.DECLINED:
            return Declined(correction.decline_code, provider_code=correction.decline_code)
        case _:
            return NotFound()


def _overtake(correction: Correction) -> bool:
    """End a proposal whose outcome is known by now; return False where an operator decided it meanwhile."""
    with suppress(Refused):
        _end(correction, State.OVERTAKEN)
        return True
    return False


@transaction.atomic
def _end(correction: Correction, state: State, reason: str = "", **decided: Any) -> None:
    rows = Correction.objects.proposed().filter(id=correction.id)
    if not rows.update(state=state, updated_at=clock.now(), **decided):
        raise Refused("This proposal is no longer open. It was decided meanwhile.")
    audit_log.record(Action(state), correction, detail=proposed_outcome(correction), reason=reason)
