"""What a provider says of an attempt whose outcome is on record already: it changes its mind, or its word came late."""

from collections.abc import Sequence
from datetime import datetime

from payments import clock
from payments.db.writes import Insert, StaleRow, Update, Write, write_together
from payments.domain.caller import Caller
from payments.domain.charging import attempts, outcome_rules, state_machine
from payments.domain.charging.changes import Changes, rows_after, writes_of
from payments.domain.charging.state_machine import Transition, state_of, transition
from payments.domain.routing.candidates import way_of
from payments.ledger import journals
from payments.models import Attempt, Charge, Refund
from payments.models.charge import EXTENDED_DAYS_MAX
from payments.providers.base import Approved, Declined, NotFound, Outcome

# Operations that may still be true of the charge when they turn out to have been done after all.
DONE_AFTER_ALL: dict[str, Transition] = {
    Attempt.Kind.CAPTURE: state_machine.CAPTURE,
    Attempt.Kind.VOID: state_machine.VOID,
    Attempt.Kind.EXTEND: state_machine.EXTEND,
}

# The outcome of money that had come late.
LATE = f"Late{Approved.__name__}"


def apply(attempt: Attempt, outcome: Outcome) -> bool:
    """Moves what `outcome` contradicts, and nothing where it says what is known.

    A refund fails after all; money that comes after its charge had failed is sent back; a capture, void, refund or
    extension that the provider had known nothing of was done. False where that must be heard again, when another
    operation is over.
    """
    if _was_given_up(attempt) and isinstance(outcome, Approved) and attempt.charge.operation:
        return False
    writes = _writes(attempt, outcome)
    if not writes:
        return True
    try:
        write_together(*writes)
    except StaleRow:
        # Somebody else moved the charge or heard the same; the fresh rows decide.
        return apply(attempts.reload(attempt), outcome)
    return True


def _was_given_up(attempt: Attempt) -> bool:
    return attempt.outcome == NotFound.__name__


def _writes(attempt: Attempt, outcome: Outcome) -> Sequence[Write]:
    """Return the writes by which `outcome` moves what it contradicts; none where it says what is known."""
    now, charge = clock.now(), attempt.charge
    changes = late_changes(attempt, outcome, now)
    if not changes:
        return []
    match = {"id": attempt.id, "state": attempt.state, "outcome": attempt.outcome}
    values = {"outcome": f"Late{type(outcome).__name__}", "due_at": None, "updated_at": now}
    moved = writes_of(Caller.service(charge), attempt, changes, rows_after(charge, changes))
    return [Update(Attempt, match, values), *moved]


def late_changes(attempt: Attempt, outcome: Outcome, now: datetime) -> Changes:
    """Return what `outcome` changes of an attempt that is done."""
    if isinstance(outcome, Declined):
        was_made = attempt.refund is not None and attempt.refund.status == Refund.Status.SUCCEEDED
        return outcome_rules.fail_refund(attempt, attempt.charge.operation, now) if was_made else ()
    if not isinstance(outcome, Approved):
        return ()
    if attempt.kind == Attempt.Kind.AUTHORIZE:
        return _money_came(attempt, now)
    # Where it cannot be true of the charge, reconciliation shows it to operators.
    if not _was_given_up(attempt):
        return ()
    return _refunded_after_all(attempt, now) if attempt.refund else _done_after_all(attempt, outcome, now)


def _money_came(attempt: Attempt, now: datetime) -> Changes:
    charge = attempt.charge
    if attempt.passed_on:
        # Another provider was asked since then, so whatever became of the charge, this is too much.
        return () if attempt.outcome == LATE else _sent_back(attempt, now)
    if charge.status != Charge.Status.FAILED or charge.reversed_late:
        return ()
    moved = transition(charge, state_machine.REVERSE_LATE, now, reversed_late=True)
    return moved, *_sent_back(attempt, now)


def _sent_back(attempt: Attempt, now: datetime) -> Changes:
    charge = attempt.charge
    way = way_of(attempt)
    reversal = attempts.new_attempt(Caller.service(charge), charge, Attempt.Kind.REVERSE, charge.amount, way)
    reversal.due_at = now
    return Insert(reversal), *outcome_rules.move_late(charge, journals.came_late(charge.amount), now)


def _done_after_all(attempt: Attempt, outcome: Approved, now: datetime) -> Changes:
    charge, done = attempt.charge, DONE_AFTER_ALL.get(attempt.kind)
    # A hold is extended by no more than the contract allows, however late the provider says so.
    is_too_long = charge.hold_extended_days + (attempt.hold_days or 0) > EXTENDED_DAYS_MAX
    if done is None or state_of(charge) not in done.origins or is_too_long:
        return ()
    return outcome_rules.apply_outcome(attempt, outcome, now).changes


def _refunded_after_all(attempt: Attempt, now: datetime) -> Changes:
    charge, refund = attempt.charge, outcome_rules.refund_of(attempt)
    enough = charge.amount_captured - charge.amount_refunded >= refund.amount
    if refund.status != Refund.Status.FAILED or not enough or state_of(charge) not in state_machine.REFUND.origins:
        return ()
    return outcome_rules.succeed_failed_refund(attempt, now)
