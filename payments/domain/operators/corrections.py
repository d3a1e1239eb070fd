"""What operators find out about an unknown outcome where lookups do not: proposed by one, approved by another.

An approval and what it records are one transaction, so that a process that dies leaves either a proposal that is still
open or an outcome that is on record. Nothing in that transaction leaves the house.
"""

import logging
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, transaction

from payments import clock
from payments.domain.caller import Caller
from payments.domain.charging import attempts, record_outcome
from payments.domain.charging.failure_data import REASONS
from payments.domain.errors import PaymentError
from payments.domain.operators.four_eyes import Operator, Refused, decision
from payments.models import Attempt, Charge, Correction, UnknownOutcome
from payments.models.attempt import UNRESOLVED
from payments.providers.base import Approved, Declined, NotFound, Outcome

logger = logging.getLogger("kaha.corrections")

State = Correction.State
Said = Correction.Outcome


def propose(correction: Correction) -> None:
    """Puts `correction`, a new row with attempt, proposer, outcome and evidence, before a second person.

    Raises ValidationError, also where the outcome is known by now or another proposal is open.
    """
    correction.full_clean()
    _check(correction)
    try:
        with transaction.atomic():
            correction.save(force_insert=True)
    except IntegrityError as error:
        raise ValidationError("Somebody else has proposed an outcome at this moment.") from error


def approve(correction: Correction, approver: Operator, note: str) -> Correction:
    """Records the proposed outcome; returns the correction, overtaken where the provider's own answer came first.

    Raises Refused for one's own proposal, for one that is open no more, without a note, and where nothing could be
    recorded now; ValidationError for a note that holds a secret.
    """
    decided = decision(correction, approver, note)
    try:
        with transaction.atomic():
            return _approve(correction, decided)
    except DatabaseError as error:
        logger.exception("correction could not be recorded", extra={"attempt": correction.attempt_id.hex})
        raise Refused("It could not be recorded at this moment. The proposal is still open.") from error


def reject(correction: Correction, decider: Operator, note: str) -> None:
    """Ends the proposal, and leaves the outcome unknown. Raises Refused as `approve` does."""
    _end(correction, State.REJECTED, **decision(correction, decider, note))


def withdraw(correction: Correction, proposer: Operator) -> None:
    """Ends one's own proposal. Raises Refused for somebody else's, and for one that is open no more."""
    if correction.proposed_by_id != proposer.pk:
        raise Refused("Only whoever proposed this may withdraw it.")
    _end(correction, State.WITHDRAWN)


def close_overtaken() -> int:
    """Ends the proposals of outcomes that became known otherwise; returns how many."""
    overtaken = Correction.objects.proposed().exclude(attempt__in=Attempt.objects.filter(UNRESOLVED))
    return overtaken.update(state=State.OVERTAKEN, updated_at=clock.now())


def _check(correction: Correction) -> None:
    """Raises ValidationError for what no constraint of the table can see."""
    attempt = correction.attempt
    if not UnknownOutcome.objects.filter(id=attempt.id).exists():
        raise ValidationError("The outcome of this attempt is known by now.")
    if correction.outcome == Said.DECLINED and correction.decline_code not in REASONS:
        raise ValidationError({"decline_code": "This is no code of a decline."})
    if attempt.kind == Attempt.Kind.REVERSE and correction.outcome != Said.APPROVED:
        raise ValidationError({"outcome": "A reversal is tried until it is done; only that can be recorded."})


def _approve(correction: Correction, decided: dict[str, Any]) -> Correction:
    attempt = _hold(correction.attempt_id)
    if attempt.is_unresolved:
        _end(correction, State.APPROVED, **decided)
        # A refusal is the merchant's answer, which is on record by then.
        with suppress(PaymentError):
            record_outcome.record(Caller.service(attempt.charge), attempt, _outcome(correction, attempt.charge))
    else:
        _end(correction, State.OVERTAKEN)
    # This fails where recording did, which tells nobody, and so undoes the decision.
    correction.refresh_from_db()
    logger.info("correction decided", extra={"attempt": attempt.reference, "state": correction.state})
    return correction


def _hold(attempt_id: UUID) -> Attempt:
    """The attempt as it stays until the end of the transaction, its charge too: whoever looks it up must wait."""
    attempt = Attempt.objects.select_for_update(no_key=True).get(id=attempt_id)
    Charge.objects.select_for_update(no_key=True).get(id=attempt.charge_id)
    return attempts.reload(attempt)


def _outcome(correction: Correction, charge: Charge) -> Outcome:
    """What the provider would have answered."""
    match correction.outcome:
        case Said.APPROVED:
            return Approved(correction.provider_ref, captured=charge.capture_at_once)
        case Said.DECLINED:
            return Declined(correction.decline_code, provider_code=correction.decline_code)
        case _:
            return NotFound()


def _end(correction: Correction, state: str, **decided: Any) -> None:
    rows = Correction.objects.proposed().filter(id=correction.id)
    if not rows.update(state=state, updated_at=clock.now(), **decided):
        raise Refused("This proposal is open no more. Somebody else was first.")
