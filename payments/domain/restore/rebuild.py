"""Operations that a provider did, and that our database has lost: they are asked for again by their own reference.

The attempt is inserted under the provider's reference as one whose outcome is unknown, and the provider is only asked
how it stands. Nothing is sent that could move money, and what the provider answers is recorded as any other outcome.
"""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from django.db import IntegrityError

from payments import clock
from payments.db.writes import Insert, StaleRow, execute_writes
from payments.domain.charging import attempts, operations, recovery
from payments.domain.charging.changes import rows_after, writes_of
from payments.domain.charging.operations import Plan
from payments.domain.routing import candidates
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.ledger import movements
from payments.models import Attempt, Charge
from payments.providers.done_there import DoneThere

Kind, State = Attempt.Kind, Attempt.State
REASON = "requested_by_customer"
PLANNERS: dict[str, Callable[[Charge, DoneThere], Plan]] = {
    Kind.CAPTURE: lambda charge, done: operations.plan_capture(charge, done.amount),
    Kind.VOID: lambda charge, _: operations.plan_void(charge),
    Kind.REFUND: lambda charge, done: operations.plan_refund(charge, done.amount, REASON),
    Kind.EXTEND: lambda charge, done: replace(operations.plan_extend(charge), hold_days=done.hold_days),
}


class CannotBeBooked(Exception):
    """The charge, as it is here, does not allow what the provider did; nothing was changed."""


class Waits(Exception):
    """Another operation on the charge has no outcome yet; nothing was changed."""


def rebuild(payment: Attempt, attempt_id: UUID, done: DoneThere) -> Attempt:
    """Insert the attempt `attempt_id` of what was done to `payment`, and record its outcome; return it.

    Raises CannotBeBooked, Waits, and ProviderBusy after the insert: the sweep of unknown outcomes finds it.
    """
    authorization = attempts.reload(payment)
    charge = authorization.charge
    if charge.operation:
        raise Waits
    if done.kind not in PLANNERS or done.currency != charge.currency:
        raise CannotBeBooked("another kind or currency than the charge's")
    try:
        plan = PLANNERS[done.kind](charge, done)
    except PaymentError as refusal:
        raise CannotBeBooked(refusal.message) from None
    if plan.amount != done.amount and plan.kind != Kind.EXTEND:
        raise CannotBeBooked("another amount than the charge's")
    attempt = _insert(authorization, attempt_id, plan, done.provider_ref if done.reference else "")
    recovery.resolve(attempt)
    return attempts.reload(attempt)


def _insert(payment: Attempt, attempt_id: UUID, plan: Plan, provider_ref: str) -> Attempt:
    charge, caller = payment.charge, Caller.service(payment.charge)
    via = candidates.route_of(payment)
    attempt = attempts.new_attempt(caller, charge, plan.kind, plan.amount, via, refund=plan.refund)
    attempt.id, attempt.state, attempt.due_at = attempt_id, State.UNKNOWN, clock.now()
    # By its provider's name too: what is not found by ours must not be asked for once more.
    attempt.hold_days, attempt.provider_ref = plan.hold_days, provider_ref
    changes = (*plan.changes, Insert(attempt))
    if plan.refund:
        changes += (movements.refund_asked(plan.amount, is_settled=charge.settled_at is not None),)
    try:
        execute_writes(*writes_of(caller, attempt, changes, rows_after(charge, changes)))
    except (StaleRow, IntegrityError):
        # Somebody else changed the charge at this moment, or another run of the command was first.
        raise Waits from None
    return attempt
