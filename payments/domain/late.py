"""What a provider says of an attempt whose outcome is on record already: it changes its mind, or its word came late."""

from payments import clock
from payments.domain import attempts, outcome_rules, state_machine
from payments.domain.caller import Caller
from payments.domain.routing import way_of
from payments.domain.state_machine import Move, advance, stage_of
from payments.ledger import journals
from payments.models import Attempt, Charge, Refund
from payments.models.charge import EXTENDED_DAYS_MAX
from payments.models.together import Insert, StaleRow, Update, Write, write_together
from payments.providers.base import Approved, Declined, NotFound, Outcome

# Operations that may still be true of the charge when they turn out to have been done after all.
DONE_AFTER_ALL: dict[str, Move] = {
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
    writes = writes_of(attempt, outcome)
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


def writes_of(attempt: Attempt, outcome: Outcome) -> list[Write]:
    """The writes by which `outcome` moves what it contradicts; none where it says what is known."""
    in_hand = {"id": attempt.id, "state": attempt.state, "outcome": attempt.outcome}
    values = {"outcome": f"Late{type(outcome).__name__}", "due_at": None, "updated_at": clock.now()}
    moved = _moved(attempt, outcome)
    return [Update(Attempt, in_hand, values), *moved] if moved else []


def _moved(attempt: Attempt, outcome: Outcome) -> list[Write]:
    if isinstance(outcome, Declined):
        return _refund_failed(attempt)
    if not isinstance(outcome, Approved):
        return []
    if attempt.kind == Attempt.Kind.AUTHORIZE:
        return _money_came(attempt)
    # Where it cannot be true of the charge, reconciliation tells operators of it.
    if not _was_given_up(attempt):
        return []
    return _refunded_after_all(attempt) if attempt.refund else _done_after_all(attempt, outcome)


def _refund_failed(attempt: Attempt) -> list[Write]:
    refund, charge = attempt.refund, attempt.charge
    if refund is None or refund.status != Refund.Status.SUCCEEDED:
        return []
    return outcome_rules.fail_refund(Caller.service(charge), attempt, charge.operation)


def _money_came(attempt: Attempt) -> list[Write]:
    charge = attempt.charge
    if attempt.passed_on:
        # Another provider was asked since then, so whatever became of the charge, this is too much.
        return [] if attempt.outcome == LATE else _sent_back(attempt)
    if charge.status != Charge.Status.FAILED or charge.reversed_late:
        return []
    moved = advance(Caller.service(charge), charge, state_machine.REVERSE_LATE, reversed_late=True)
    return [*moved, *_sent_back(attempt)]


def _sent_back(attempt: Attempt) -> list[Write]:
    charge = attempt.charge
    way = way_of(attempt)
    reversal = attempts.new_attempt(Caller.service(charge), charge, Attempt.Kind.REVERSE, charge.amount, way)
    reversal.due_at = clock.now()
    return [Insert(reversal), *outcome_rules.moved_late(charge, journals.came_late(attempt))]


def _done_after_all(attempt: Attempt, outcome: Approved) -> list[Write]:
    charge, move = attempt.charge, DONE_AFTER_ALL.get(attempt.kind)
    if move is None or stage_of(charge) not in move.origins or not _has_room_for(attempt):
        return []
    return outcome_rules.settle(Caller.service(charge), attempt, outcome).writes


def _has_room_for(attempt: Attempt) -> bool:
    """Whether the hold may still be extended by as much as the attempt asks, if it asks for that."""
    return attempt.charge.hold_extended_days + (attempt.hold_days or 0) <= EXTENDED_DAYS_MAX


def _refunded_after_all(attempt: Attempt) -> list[Write]:
    charge, refund = attempt.charge, attempt.refund
    assert refund is not None  # nosec B101 # for the type checker: who refunds has a refund
    enough = charge.amount_captured - charge.amount_refunded >= refund.amount
    if refund.status != Refund.Status.FAILED or not enough or stage_of(charge) not in state_machine.REFUND.origins:
        return []
    return outcome_rules.succeed_failed_refund(Caller.service(charge), attempt)
