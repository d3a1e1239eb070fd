"""Outcomes that contradict a recorded one: the provider changed it, or it arrived late."""

from datetime import datetime

from payments import clock
from payments.db.writes import Insert, StaleRow, Update, execute_writes
from payments.domain.charging import attempts, outcome_rules, state_machine
from payments.domain.charging.changes import Changes, named_by_network, rows_after, writes_of
from payments.domain.charging.state_machine import Transition, state_of, transition
from payments.domain.routing.candidates import route_of
from payments.domain.shared.caller import Caller
from payments.ledger import movements
from payments.models import Attempt, Card, Charge, Refund, Source
from payments.models.charging.charge import EXTENDED_DAYS_MAX
from payments.providers.base import Approved, Declined, NotFound, Outcome

# Operations that may still be true of the charge when they turn out to have been done after all.
DONE_AFTER_ALL: dict[str, Transition] = {
    Attempt.Kind.CAPTURE: state_machine.CAPTURE,
    Attempt.Kind.VOID: state_machine.VOID,
    Attempt.Kind.EXTEND: state_machine.EXTEND,
}

# The recorded outcome of money that arrived late.
LATE = f"Late{Approved.__name__}"


def apply(attempt: Attempt, outcome: Outcome) -> bool:
    """Record `outcome` where it contradicts what is recorded; return whether it is dealt with.

    A refund fails after all. Money that arrives after its charge has failed is reversed. A capture, void, refund or
    extension that the provider did not find was done. False means: apply it again when the operation under way is over.
    """
    if _was_given_up(attempt) and isinstance(outcome, Approved) and attempt.charge.operation:
        return False
    now, charge = clock.now(), attempt.charge
    changes = late_changes(attempt, outcome, now)
    if not changes:
        is_payment = attempt.kind == Attempt.Kind.AUTHORIZE and attempt.outcome == Approved.__name__
        if is_payment:
            keep_network_reference(attempt.charge.source, outcome)
        return True
    match = {
        "id": attempt.id,
        "merchant_id": attempt.merchant_id,
        "state": attempt.state,
        "outcome": attempt.outcome,
    }
    values = {"outcome": f"Late{type(outcome).__name__}", "due_at": None, "updated_at": now}
    moved = writes_of(Caller.service(charge), attempt, changes, rows_after(charge, changes))
    try:
        execute_writes(Update(Attempt, match, values), *moved)
    except StaleRow:
        # Another process changed the charge or recorded the same; the new rows decide.
        return apply(attempts.reload(attempt), outcome)
    return True


def keep_network_reference(source: Source, outcome: Outcome) -> None:
    """Keep the card network's reference of a recorded payment by `source`, which some providers say by webhook only."""
    card: Card | None = getattr(source, "card", None)
    if card and isinstance(outcome, Approved) and named_by_network(outcome):
        # Of the first payment: what is there already stays. A card that is given up has none.
        rows = Card.objects.filter(id=card.id, merchant_id=card.merchant_id, network_reference="")
        rows.filter(source__vaulted=True).update(network_reference=outcome.network_reference)


def _was_given_up(attempt: Attempt) -> bool:
    return attempt.outcome == NotFound.__name__


def late_changes(attempt: Attempt, outcome: Outcome, now: datetime) -> Changes:
    """Return what `outcome` changes of a finished attempt."""
    if isinstance(outcome, Declined):
        was_made = attempt.refund is not None and attempt.refund.status == Refund.Status.SUCCEEDED
        return outcome_rules.fail_refund(attempt, attempt.charge.operation, now) if was_made else ()
    if not isinstance(outcome, Approved):
        return ()
    if attempt.kind == Attempt.Kind.AUTHORIZE:
        return _money_arrived(attempt, now)
    # What cannot be true of the charge is shown to operators by reconciliation.
    if not _was_given_up(attempt):
        return ()
    return _refunded_after_all(attempt, now) if attempt.refund else _done_after_all(attempt, outcome, now)


def _money_arrived(attempt: Attempt, now: datetime) -> Changes:
    charge = attempt.charge
    if attempt.passed_on:
        # Another provider was asked since then, so this money is too much in every case.
        return () if attempt.outcome == LATE else _reversal(attempt, now)
    if charge.status != Charge.Status.FAILED or charge.reversed_late:
        return ()
    moved = transition(charge, state_machine.REVERSE_LATE, now, reversed_late=True)
    return moved, *_reversal(attempt, now)


def _reversal(attempt: Attempt, now: datetime) -> Changes:
    charge = attempt.charge
    via = route_of(attempt)
    reversal = attempts.new_attempt(Caller.service(charge), charge, Attempt.Kind.REVERSE, charge.amount, via)
    reversal.due_at = now
    return Insert(reversal), *outcome_rules.move_late(charge, movements.came_late(charge.amount), now)


def _done_after_all(attempt: Attempt, outcome: Approved, now: datetime) -> Changes:
    charge, done = attempt.charge, DONE_AFTER_ALL.get(attempt.kind)
    # A hold is extended by no more than the contract allows, however late the provider says so.
    is_too_long = charge.hold_extended_days + (attempt.hold_days or 0) > EXTENDED_DAYS_MAX
    is_disputed = charge.disputed and attempt.kind == Attempt.Kind.VOID
    if done is None or state_of(charge) not in done.origins or is_too_long or is_disputed:
        return ()
    return outcome_rules.apply_outcome(attempt, outcome, now).changes


def _refunded_after_all(attempt: Attempt, now: datetime) -> Changes:
    charge, refund = attempt.charge, outcome_rules.refund_of(attempt)
    enough = charge.amount_captured - charge.amount_refunded >= refund.amount
    if refund.status != Refund.Status.FAILED or not enough or state_of(charge) not in state_machine.REFUND.origins:
        return ()
    return outcome_rules.succeed_failed_refund(attempt, now)
