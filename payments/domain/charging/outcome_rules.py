"""What each outcome of each kind of attempt means for the charge.

The rules are pure: they take rows and an outcome and return what changes. No row is changed, nothing is written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from payments.domain.catalogue.error_table import CHARGE_NOT_CAPTURABLE, CHARGE_NOT_VOIDABLE, UNAVAILABLE
from payments.domain.charging import attempts, state_machine
from payments.domain.charging.changes import Change, Changes, account_named, card_approved, card_failed
from payments.domain.charging.state_machine import refunded_status, set_operation, set_refund_status, transition
from payments.domain.due_rows import next_lookup_at, next_second_look_at
from payments.domain.shared.errors import PaymentError, conflict, unavailable
from payments.ids import public_id
from payments.ledger import movements
from payments.ledger.fees import Rate, fee_of
from payments.ledger.movements import Movement
from payments.ledger.settlement import next_settlement_at
from payments.models import Attempt, Charge, Refund
from payments.providers.base import (
    ActionRequired,
    Approved,
    Declined,
    NotFound,
    NotSent,
    Outcome,
    Pending,
    Rejected,
    Unknown,
)
from payments.providers.failure_data import NOT_REACHED, failure_data

Kind, State = Attempt.Kind, Attempt.State
# No payer has to act any more.
ACTION_OVER = {"action": None, "action_expires_at": None}
# The codes of operations that a provider refuses.
REFUSED: dict[str, str] = {
    Kind.CAPTURE: CHARGE_NOT_CAPTURABLE,
    Kind.VOID: CHARGE_NOT_VOIDABLE,
    Kind.EXTEND: "charge_not_extendable",
}


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The new values of an attempt, what else changes, and the refusal if the operation was not done."""

    state: str
    outcome: str = ""
    due_at: datetime | None = None
    changes: Changes = ()
    refusal: PaymentError | None = None

    @property
    def releases_key(self) -> bool:
        """Whether nothing was done and the same request may be sent again under its key."""
        return self.refusal is not None and self.refusal.kind is UNAVAILABLE


def apply_outcome(attempt: Attempt, outcome: Outcome, now: datetime) -> AttemptResult:
    """Return what `outcome` of `attempt` changes, `now`. Raise IllegalTransition where the charge allows no such."""
    if isinstance(outcome, Unknown):
        return _waiting(attempt, now) if _is_waiting(attempt) else _still_unknown(attempt, now)
    if attempt.kind in REFUSED and not isinstance(outcome, Approved):
        return _not_done(attempt, outcome, now)
    return _RULES[attempt.kind](attempt, outcome, now)


def refusal_on_record(attempt: Attempt) -> PaymentError | None:
    """Return the refusal that the recorded outcome of an operation is; None where it was done or may be."""
    was_refused = attempt.kind in REFUSED and attempt.outcome in (Declined.__name__, Rejected.__name__)
    return _refused(attempt) if was_refused else None


def _refused(attempt: Attempt) -> PaymentError:
    message = f"The provider refused to {attempt.kind} this charge."
    return conflict(REFUSED[attempt.kind], message, public_id("ch", attempt.charge_id))


def _still_unknown(attempt: Attempt, now: datetime) -> AttemptResult:
    return AttemptResult(State.UNKNOWN, due_at=next_lookup_at(now, attempt.tries))


def _is_waiting(attempt: Attempt) -> bool:
    """Return whether the provider has confirmed the payment or operation, and only its end is unknown.

    It has confirmed what waits, and a payment whose payer came back.
    """
    is_continued = attempt.kind == Kind.AUTHORIZE and attempt.state == State.OPEN and bool(attempt.provider_ref)
    return is_continued or attempt.state == State.WAITING


def _waiting(attempt: Attempt, now: datetime, *changes: Change) -> AttemptResult:
    return AttemptResult(State.WAITING, due_at=next_lookup_at(now, attempt.tries), changes=changes)


def _done(outcome: Outcome, now: datetime, *changes: Change, refusal: PaymentError | None = None) -> AttemptResult:
    due_at = next_second_look_at(now, 0) if isinstance(outcome, NotFound) else None
    return AttemptResult(State.DONE, type(outcome).__name__, due_at, changes, refusal)


def _authorize(attempt: Attempt, outcome: Outcome, now: datetime) -> AttemptResult:
    charge = attempt.charge
    match outcome:
        case Approved():
            source = (*card_approved(charge, outcome, now), *account_named(charge, outcome.bank_account, now))
            return _done(outcome, now, *source, *_succeed(charge, outcome, now))
        case ActionRequired():
            expires_at = charge.action_expires_at or action_ends_at(charge)
            changes = _ask_payer(charge, _action(attempt, outcome), expires_at, now)
            due_at = max(expires_at, next_lookup_at(now, attempt.tries))
            return AttemptResult(State.WAITING, due_at=due_at, changes=changes)
        case Pending():
            return _waiting(attempt, now, *_ask_payer(charge, None, None, now))
        case NotSent() | Rejected() if attempt.provider_ref:
            return _waiting(attempt, now)
        case Declined() | Rejected() | NotSent() | NotFound():
            return _done(outcome, now, *_fail(charge, _as_decline(outcome), now))
        case other:
            raise ValueError(other)


def action_ends_at(charge: Charge) -> datetime:
    """Return until when a payer has time who does not give up."""
    return charge.created_at + timedelta(minutes=settings.ACTION_MINUTES)


def _fail(charge: Charge, declined: Declined, now: datetime) -> Changes:
    failure = failure_data(declined)
    values = {"status": Charge.Status.FAILED, "failure_data": failure, **ACTION_OVER}
    failed = transition(charge, state_machine.FAIL, now, **values)
    return *card_failed(charge, declined, failure["retry"], now), failed


def _as_decline(outcome: Outcome) -> Declined:
    if isinstance(outcome, Declined):
        return outcome
    if isinstance(outcome, Rejected):
        return Declined("processing_error", provider_code=outcome.provider_code, message=outcome.message)
    code = NOT_REACHED if isinstance(outcome, NotSent) else "processing_error"
    return Declined(code, provider_code=code)


def _succeed(charge: Charge, approved: Approved, now: datetime) -> Changes:
    values: dict[str, object] = {"status": Charge.Status.SUCCEEDED, **ACTION_OVER}
    if approved.captured:
        fee = _fee(charge, charge.amount)
        values |= _captured(charge.amount, fee, now)
        moved = movements.captured(charge.amount, fee)
    else:
        values |= {"authorized": True, "hold_expires_at": now + timedelta(days=settings.HOLD_DAYS)}
        moved = movements.held(charge.amount)
    return transition(charge, state_machine.SUCCEED, now, **values), moved


def _fee(charge: Charge, amount: int) -> int:
    return fee_of(amount, Rate(charge.fee_basis_points, charge.fee_fixed))


def _captured(amount: int, fee: int, now: datetime) -> dict[str, object]:
    taken = {"authorized": False, "captured": True, "amount_captured": amount, "fee": fee}
    return taken | {"settle_due_at": next_settlement_at(now)}


def _settles_at(charge: Charge, now: datetime) -> datetime:
    """When a charge is settled that money moved on again: what was due before is not put off."""
    return charge.settle_due_at or next_settlement_at(now)


def _action(attempt: Attempt, outcome: ActionRequired) -> dict[str, str]:
    url = attempts.code_page_url(attempt) if outcome.qr else outcome.url
    if outcome.confirmation_id:
        return {"type": "verify_otp", "confirmation_id": outcome.confirmation_id, "url": url}
    return {"type": "redirect_to_url", "url": url}


def _ask_payer(charge: Charge, action: dict[str, str] | None, expires_at: datetime | None, now: datetime) -> Changes:
    if charge.action == action:
        return ()
    return (transition(charge, state_machine.ASK_PAYER, now, action=action, action_expires_at=expires_at),)


def _capture(attempt: Attempt, outcome: Outcome, now: datetime) -> AttemptResult:
    charge = attempt.charge
    fee = _fee(charge, attempt.amount)
    values = _captured(attempt.amount, fee, now) | {"operation": "", "hold_expires_at": None}
    captured = transition(charge, state_machine.CAPTURE, now, **values)
    return _done(outcome, now, captured, movements.captured(attempt.amount, fee, hold=charge.amount))


def _void(attempt: Attempt, outcome: Outcome, now: datetime) -> AttemptResult:
    charge = attempt.charge
    values = {"status": Charge.Status.VOIDED, "authorized": False, "operation": ""}
    voided = transition(charge, state_machine.VOID, now, **values, hold_expires_at=None, settle_due_at=None)
    is_held = charge.authorized
    moved = movements.released(charge.amount) if is_held else movements.voided(charge.amount_captured, charge.fee)
    return _done(outcome, now, voided, moved)


def _extend(attempt: Attempt, outcome: Outcome, now: datetime) -> AttemptResult:
    charge, days = attempt.charge, attempt.hold_days
    assert days is not None  # nosec B101 # for the type checker
    assert charge.hold_expires_at is not None  # nosec B101 # for the type checker
    values = {"operation": "", "hold_expires_at": charge.hold_expires_at + timedelta(days=days)}
    values |= {"hold_extended_days": charge.hold_extended_days + days}
    return _done(outcome, now, transition(charge, state_machine.EXTEND, now, **values))


def _not_done(attempt: Attempt, outcome: Outcome, now: datetime) -> AttemptResult:
    """Return the result of a capture, void or extension that was not done: the charge stays unchanged."""
    match outcome:
        case Pending() | ActionRequired():
            return _waiting(attempt, now)
        case NotSent() | NotFound():
            refusal = unavailable()
        case Declined() | Rejected():
            refusal = _refused(attempt)
        case other:
            raise ValueError(other)
    return _done(outcome, now, set_operation(attempt.charge, ""), refusal=refusal)


def _refund(attempt: Attempt, outcome: Outcome, now: datetime) -> AttemptResult:
    charge, refund = attempt.charge, refund_of(attempt)
    # A refund that waits for the provider has left the charge free for the next operation already.
    in_the_way = attempt.state in (State.OPEN, State.UNKNOWN)
    operation = "" if in_the_way else charge.operation
    match outcome:
        case Approved():
            made = set_refund_status(refund, Refund.Status.SUCCEEDED, now)
            due = set_operation(charge, operation, settle_due_at=_settles_at(charge, now))
            return _done(outcome, now, made, due, movements.refund_settled(refund.amount))
        case Pending() | ActionRequired():
            return _waiting(attempt, now, *([set_operation(charge, "")] if in_the_way else []))
        case Declined() | Rejected() | NotSent() | NotFound():
            return _done(outcome, now, *fail_refund(attempt, operation, now))
        case other:
            raise ValueError(other)


def refund_of(attempt: Attempt) -> Refund:
    """Return the refund that the attempt asks for."""
    assert attempt.refund is not None  # nosec B101 # for the type checker
    return attempt.refund


def fail_refund(attempt: Attempt, operation: str, now: datetime) -> Changes:
    """Return the changes by which a refund fails, its amount is given back and `operation` is left under way."""
    charge, refund = attempt.charge, refund_of(attempt)
    was_made = refund.status == Refund.Status.SUCCEEDED
    moved = movements.refund_failed(refund.amount, was_made=was_made, is_settled=charge.settled_at is not None)
    restored = _refunded(charge, charge.amount_refunded - refund.amount, now) | {"operation": operation}
    failed = set_refund_status(refund, Refund.Status.FAILED, now)
    return failed, transition(charge, state_machine.RESTORE, now, **restored), moved


def succeed_failed_refund(attempt: Attempt, now: datetime) -> Changes:
    """Return the changes by which a refund that had failed was made after all."""
    charge, refund = attempt.charge, refund_of(attempt)
    moved = movements.refund_succeeded_late(refund.amount, is_settled=charge.settled_at is not None)
    made = set_refund_status(refund, Refund.Status.SUCCEEDED, now)
    refunded = _refunded(charge, charge.amount_refunded + refund.amount, now)
    return made, transition(charge, state_machine.REFUND, now, **refunded), moved


def _refunded(charge: Charge, amount_refunded: int, now: datetime) -> dict[str, object]:
    status = refunded_status(charge.amount_captured, amount_refunded)
    return {"amount_refunded": amount_refunded, "status": status, "settle_due_at": _settles_at(charge, now)}


def _reverse(attempt: Attempt, outcome: Outcome, now: datetime) -> AttemptResult:
    if isinstance(outcome, Approved):
        charge = attempt.charge
        return _done(outcome, now, *move_late(charge, movements.reversed_late(charge.amount), now))
    return _waiting(attempt, now) if isinstance(outcome, Pending) else _still_unknown(attempt, now)


def move_late(charge: Charge, moved: Movement, now: datetime) -> Changes:
    """Return the changes by which late money moves: none for a hold, and a charge that settles settles it."""
    if not charge.capture_at_once:
        return ()
    if not charge.captured or charge.status == Charge.Status.VOIDED:
        return (moved,)
    return moved, set_operation(charge, charge.operation, settle_due_at=_settles_at(charge, now))


_RULES: dict[str, Callable[[Attempt, Outcome, datetime], AttemptResult]] = {
    Kind.AUTHORIZE: _authorize,
    Kind.CAPTURE: _capture,
    Kind.VOID: _void,
    Kind.REFUND: _refund,
    Kind.EXTEND: _extend,
    Kind.REVERSE: _reverse,
}
