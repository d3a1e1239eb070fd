"""What each outcome of each kind of attempt means for the charge: pure decisions, returned as writes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings

from payments import clock
from payments.domain import attempts, state_machine
from payments.domain.caller import Caller
from payments.domain.errors import PaymentError, conflict, unavailable
from payments.domain.failures import failure_data
from payments.domain.schedule import next_lookup_at, next_second_look_at, next_settlement_at
from payments.domain.state_machine import advance, refunded_status, set_operation, settle_refund
from payments.ids import public_id
from payments.ledger import journals
from payments.ledger.fees import Rate, fee_of
from payments.models import Attempt, Card, Charge, Refund
from payments.models.together import Update, Write
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

State = Attempt.State


@dataclass
class Verdict:
    """How an attempt stands after an outcome, what to write, and the refusal to answer with if there is one.

    `release` gives the caller's idempotency key back instead of storing an answer, for nothing was done.
    """

    state: str
    outcome: str = ""
    due_at: datetime | None = None
    writes: list[Write] = field(default_factory=list)
    refusal: PaymentError | None = None
    release: bool = False


def settle(caller: Caller, attempt: Attempt, outcome: Outcome) -> Verdict:
    """The verdict on `attempt`, whose charge is in hand and is changed in memory too."""
    if isinstance(outcome, Unknown):
        return _waiting(attempt, []) if _goes_on_waiting(attempt) else still_unknown(attempt)
    return _SETTLERS[attempt.kind](caller, attempt, outcome)


def still_unknown(attempt: Attempt) -> Verdict:
    return Verdict(State.UNKNOWN, due_at=next_lookup_at(attempt.tries))


def _goes_on_waiting(attempt: Attempt) -> bool:
    """Whether what was asked for exists in any case, and the question was what has become of it since.

    The provider has said so of what waits, and of a payment whose payer came back.
    """
    is_continued = attempt.kind == Attempt.Kind.AUTHORIZE and attempt.state == State.OPEN and bool(attempt.provider_ref)
    return is_continued or attempt.state == State.WAITING


def _waiting(attempt: Attempt, writes: list[Write]) -> Verdict:
    return Verdict(State.WAITING, due_at=next_lookup_at(attempt.tries), writes=writes)


def _done(outcome: Outcome, writes: list[Write], refusal: PaymentError | None = None) -> Verdict:
    release = refusal is not None and refusal.status >= 500
    due_at = next_second_look_at(0) if isinstance(outcome, NotFound) else None
    return Verdict(State.DONE, type(outcome).__name__, due_at, writes, refusal, release)


def _settle_authorize(caller: Caller, attempt: Attempt, outcome: Outcome) -> Verdict:
    charge = attempt.charge
    match outcome:
        case Approved():
            forget = _forget_card(charge, outcome.cvc_checked)
            return _done(outcome, [*_succeed(caller, attempt, outcome), *forget])
        case ActionRequired():
            expires_at = charge.action_expires_at or charge.created_at + timedelta(minutes=settings.ACTION_MINUTES)
            writes = _ask_payer(caller, charge, _action(attempt, outcome), expires_at)
            return Verdict(State.WAITING, due_at=max(expires_at, next_lookup_at(attempt.tries)), writes=writes)
        case Pending():
            return _waiting(attempt, _ask_payer(caller, charge, None, None))
        case NotSent() | Rejected() if attempt.provider_ref:
            return _waiting(attempt, [])
        case _:
            declined = _as_decline(outcome)
            forget = _forget_card(charge, declined.cvc_checked)
            return _done(outcome, [*_fail(caller, charge, declined), *forget])


def _as_decline(outcome: Outcome) -> Declined:
    if isinstance(outcome, Declined):
        return outcome
    if isinstance(outcome, Rejected):
        return Declined("processing_error", provider_code=outcome.provider_code, message=outcome.message)
    code = "provider_unavailable" if isinstance(outcome, NotSent) else "processing_error"
    return Declined(code, provider_code=code)


def _succeed(caller: Caller, attempt: Attempt, approved: Approved) -> list[Write]:
    common = {"status": Charge.Status.SUCCEEDED, "action": None, "action_expires_at": None}
    if approved.captured:
        changes = common | _taken(attempt.charge, attempt.charge.amount)
        writes = advance(caller, attempt.charge, state_machine.SUCCEED, **changes)
        return [*writes, journals.captured(attempt, from_hold=False)]
    held_until = clock.now() + timedelta(days=settings.HOLD_DAYS)
    changes = common | {"authorized": True, "hold_expires_at": held_until}
    return [*advance(caller, attempt.charge, state_machine.SUCCEED, **changes), journals.held(attempt)]


def _taken(charge: Charge, amount: int) -> dict[str, object]:
    """How a charge changes of which `amount` was captured."""
    return {
        "authorized": False,
        "captured": True,
        "amount_captured": amount,
        "fee": fee_of(amount, Rate(charge.fee_basis_points, charge.fee_fixed)),
        "settle_due_at": next_settlement_at(),
    }


def _settles_at(charge: Charge) -> datetime:
    """When a charge is settled that money moved on again: what was due before is not put off."""
    return charge.settle_due_at or next_settlement_at()


def _fail(caller: Caller, charge: Charge, declined: Declined) -> list[Write]:
    return advance(
        caller,
        charge,
        state_machine.FAIL,
        status=Charge.Status.FAILED,
        failure_data=failure_data(declined),
        action=None,
        action_expires_at=None,
    )


def _action(attempt: Attempt, outcome: ActionRequired) -> dict[str, str]:
    url = attempts.code_page_url(attempt) if outcome.qr else outcome.url
    if outcome.confirmation_id:
        return {"type": "verify_otp", "confirmation_id": outcome.confirmation_id, "url": url}
    return {"type": "redirect_to_url", "url": url}


def _ask_payer(
    caller: Caller, charge: Charge, action: dict[str, str] | None, expires_at: datetime | None
) -> list[Write]:
    if charge.action == action:
        return []
    return advance(caller, charge, state_machine.ASK_PAYER, action=action, action_expires_at=expires_at)


def _forget_card(charge: Charge, cvc_checked: str) -> list[Write]:
    """The CVC has served, and so has the number of a card that cannot be charged again."""
    card: Card | None = getattr(charge.source, "card", None)
    if card is None:
        return []
    card.cvc_checked = cvc_checked
    values = {"sealed_cvc": None, "cvc_expires_at": None, "cvc_checked": cvc_checked}
    if charge.single_use:
        values |= {"sealed_number": None, "number_expires_at": None}
    return [Update(Card, {"id": card.id}, values)]


def _settle_capture(caller: Caller, attempt: Attempt, outcome: Outcome) -> Verdict:
    charge = attempt.charge
    if isinstance(outcome, Approved):
        changes = _taken(charge, attempt.amount) | {"operation": "", "hold_expires_at": None}
        writes = advance(caller, charge, state_machine.CAPTURE, **changes)
        return _done(outcome, [*writes, journals.captured(attempt, from_hold=True)])
    return _settle_undone(attempt, outcome, "charge_not_capturable")


def _settle_void(caller: Caller, attempt: Attempt, outcome: Outcome) -> Verdict:
    charge = attempt.charge
    if isinstance(outcome, Approved):
        posted = journals.released(attempt) if charge.authorized else journals.voided(attempt)
        dates = {"hold_expires_at": None, "settle_due_at": None}
        changes = {"status": Charge.Status.VOIDED, "authorized": False, "operation": "", **dates}
        return _done(outcome, [*advance(caller, charge, state_machine.VOID, **changes), posted])
    return _settle_undone(attempt, outcome, "charge_not_voidable")


def _settle_extend(caller: Caller, attempt: Attempt, outcome: Outcome) -> Verdict:
    charge, days = attempt.charge, attempt.hold_days
    if isinstance(outcome, Approved):
        assert days is not None  # nosec B101 # for the type checker
        assert charge.hold_expires_at is not None  # nosec B101 # for the type checker
        longer = {
            "hold_expires_at": charge.hold_expires_at + timedelta(days=days),
            "hold_extended_days": charge.hold_extended_days + days,
        }
        return _done(outcome, advance(caller, charge, state_machine.EXTEND, operation="", **longer))
    return _settle_undone(attempt, outcome, "charge_not_extendable")


def _settle_undone(attempt: Attempt, outcome: Outcome, code: str) -> Verdict:
    """A capture, void or extension that was not done: the charge stays as it was."""
    if isinstance(outcome, Pending | ActionRequired):
        return _waiting(attempt, [])
    writes: list[Write] = [set_operation(attempt.charge, "")]
    if isinstance(outcome, NotSent | NotFound):
        return _done(outcome, writes, unavailable())
    message = f"The provider refused to {attempt.kind} this charge."
    return _done(outcome, writes, conflict(code, message, public_id("ch", attempt.charge.id)))


def _settle_refund(caller: Caller, attempt: Attempt, outcome: Outcome) -> Verdict:
    charge, refund = attempt.charge, attempt.refund
    assert refund is not None  # nosec B101 # for the type checker: who refunds has a refund
    # A refund that waits for the provider has left the charge free for the next operation already.
    in_the_way = attempt.state in (State.OPEN, State.UNKNOWN)
    operation = "" if in_the_way else charge.operation
    match outcome:
        case Approved():
            writes = settle_refund(caller, refund, Refund.Status.SUCCEEDED)
            due = set_operation(charge, operation, settle_due_at=_settles_at(charge))
            return _done(outcome, [*writes, due, journals.refund_settled(attempt, refund)])
        case Pending() | ActionRequired():
            return _waiting(attempt, [set_operation(charge, "")] if in_the_way else [])
        case _:
            return _done(outcome, fail_refund(caller, attempt, operation))


def fail_refund(caller: Caller, attempt: Attempt, operation: str) -> list[Write]:
    """The writes by which the attempt's refund fails, its amount is given back, and `operation` is left under way."""
    charge, refund = attempt.charge, attempt.refund
    assert refund is not None  # nosec B101 # for the type checker: who refunds has a refund
    posted = journals.refund_failed(attempt, refund, was_settled=refund.status == Refund.Status.SUCCEEDED)
    amount_refunded = charge.amount_refunded - refund.amount
    restored = {
        "amount_refunded": amount_refunded,
        "status": refunded_status(charge.amount_captured, amount_refunded),
        "operation": operation,
        "settle_due_at": _settles_at(charge),
    }
    failed = settle_refund(caller, refund, Refund.Status.FAILED)
    return [*failed, *advance(caller, charge, state_machine.RESTORE, **restored), posted]


def succeed_failed_refund(caller: Caller, attempt: Attempt) -> list[Write]:
    """The writes by which the attempt's refund, that had failed, was made after all."""
    charge, refund = attempt.charge, attempt.refund
    assert refund is not None  # nosec B101 # for the type checker: who refunds has a refund
    posted = journals.refund_succeeded_late(attempt, refund)
    amount_refunded = charge.amount_refunded + refund.amount
    given_back = {
        "amount_refunded": amount_refunded,
        "status": refunded_status(charge.amount_captured, amount_refunded),
        "settle_due_at": _settles_at(charge),
    }
    made = settle_refund(caller, refund, Refund.Status.SUCCEEDED)
    return [*made, *advance(caller, charge, state_machine.REFUND, **given_back), posted]


def _settle_reverse(caller: Caller, attempt: Attempt, outcome: Outcome) -> Verdict:
    if isinstance(outcome, Approved):
        return _done(outcome, moved_late(attempt.charge, journals.reversed_late(attempt)))
    return _waiting(attempt, []) if isinstance(outcome, Pending) else still_unknown(attempt)


def moved_late(charge: Charge, posted: Write) -> list[Write]:
    """The writes by which late money moves as `posted` says; a hold has none, and a charge that settles settles it."""
    if not charge.capture_at_once:
        return []
    if not charge.captured or charge.status == Charge.Status.VOIDED:
        return [posted]
    return [posted, set_operation(charge, charge.operation, settle_due_at=_settles_at(charge))]


_SETTLERS: dict[str, Callable[[Caller, Attempt, Outcome], Verdict]] = {
    Attempt.Kind.AUTHORIZE: _settle_authorize,
    Attempt.Kind.CAPTURE: _settle_capture,
    Attempt.Kind.VOID: _settle_void,
    Attempt.Kind.REFUND: _settle_refund,
    Attempt.Kind.EXTEND: _settle_extend,
    Attempt.Kind.REVERSE: _settle_reverse,
}
