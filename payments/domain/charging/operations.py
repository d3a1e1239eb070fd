"""Capture, void, refund and extension of a hold, in the phases of a charge; one operation at a time on a charge."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from payments import clock, context
from payments.concurrency.connections import release_connection
from payments.concurrency.fair_queue import Slots
from payments.db.backend.row_security import rows_of_service
from payments.db.writes import Insert, StaleRow
from payments.domain import bulkheads
from payments.domain.catalogue import error_table as errors
from payments.domain.charging import attempts, charges, record_outcome, recovery, state_machine
from payments.domain.charging.changes import Changes, apply, rows_after, writes_of
from payments.domain.charging.state_machine import ChargeState, refunded_status, set_operation, state_of, transition
from payments.domain.routing import candidates
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError, busy, conflict
from payments.domain.shared.idempotency import Result
from payments.failpoints import Failpoint, reached
from payments.ids import public_id
from payments.ledger import movements
from payments.models import Attempt, Charge, Refund
from payments.models.charging.charge import EXTENDED_DAYS_MAX
from payments.providers.base import Operation, Outcome, Provider

# How long a request waits for another operation on the same charge before it is answered `resource_busy`.
BUSY_WAIT_SECONDS = 3.0
BUSY_POLL_SECONDS = 0.02
# Requests of this process that wait for one charge; one more is refused.
WAITING_MAX = 5
# Each event of a charge shows all of its refunds.
REFUNDS_MAX = 100
REFUND_RIGHT = "refunds:write"
_waiting = Slots(WAITING_MAX)


@dataclass(frozen=True, slots=True)
class Plan:
    """What an operation asks of the provider, and what changes when it is opened."""

    kind: str
    amount: int
    changes: Changes
    refund: Refund | None = None
    hold_days: int | None = None


Planner = Callable[[Charge], Plan]

QUESTIONS: dict[str, Callable[[Provider, Operation], Outcome]] = {
    Attempt.Kind.CAPTURE: lambda provider, operation: provider.capture(operation),
    Attempt.Kind.VOID: lambda provider, operation: provider.void(operation),
    Attempt.Kind.REFUND: lambda provider, operation: provider.refund(operation),
    Attempt.Kind.EXTEND: lambda provider, operation: provider.extend(operation),
}


def capture(caller: Caller, charge_id: str, amount: int | None = None) -> Result[Charge]:
    """Capture `amount` (default: all) of a held charge; the provider releases the rest.

    Raise PaymentError `resource_missing`, `charge_not_capturable`, `amount_too_large`, `resource_busy`, and
    `provider_unavailable` when the provider cannot be reached.
    """
    return _run(caller, charge_id, lambda charge: plan_capture(charge, amount))


def void(caller: Caller, charge_id: str) -> Result[Charge]:
    """Release a held charge, or give a captured one back before it is settled, which requires the right to refund.

    Raise PaymentError `right_missing`, `resource_missing`, `charge_not_voidable`, `resource_busy`,
    `provider_unavailable`.
    """

    def plan(charge: Charge) -> Plan:
        planned = plan_void(charge)
        # The plan is written only if the charge is still as it is here.
        if charge.captured:
            caller.require_right(REFUND_RIGHT)
        return planned

    return _run(caller, charge_id, plan)


def release(caller: Caller, charge_id: str, expired_only: bool = False) -> Result[Charge]:
    """Void a charge that is still held, with `expired_only` only where its hold has expired. Raise as `void` does.

    One that was captured meanwhile stays captured, and a hold that was extended meanwhile is kept.
    """
    return _run(caller, charge_id, lambda charge: plan_release(charge, expired_only))


def extend(caller: Caller, charge_id: str) -> Result[Charge]:
    """Extend a hold by as many days as its provider does at once.

    Raise PaymentError `resource_missing`, `charge_not_extendable`, `resource_busy`, `provider_unavailable`.
    """
    return _run(caller, charge_id, plan_extend)


def refund(
    caller: Caller, charge_id: str, amount: int | None = None, reason: str = "requested_by_customer"
) -> Result[Charge]:
    """Refund `amount` (default: what is left) of a captured charge.

    Raise PaymentError `resource_missing`, `charge_not_refundable`, `amount_too_large`, `too_many_refunds`,
    `resource_busy`, `provider_unavailable`.
    """
    return _run(caller, charge_id, lambda charge: plan_refund(charge, amount, reason))


def _run(caller: Caller, charge_id: str, planner: Planner) -> Result[Charge]:
    with ExitStack() as place:
        attempt, operation = _open(caller, charge_id, planner, place)
        outcome = attempts.ask(attempt, lambda provider: QUESTIONS[attempt.kind](provider, operation))
    return record_outcome.record(caller, attempt, outcome)


def _open(caller: Caller, charge_id: str, planner: Planner, place: ExitStack) -> tuple[Attempt, Operation]:
    """Insert the operation's attempt as soon as no other operation on the charge is under way. Raise PaymentError."""
    charge = _resolved(caller, charge_id)
    if opened := _opened(caller, charge, planner, place):
        return opened
    # The operation under way may be this very request, sent twice at once.
    idempotency.look_up(caller)
    of_merchant, refuse = bulkheads.bulkheads().operations, partial(busy, charge_id)
    with of_merchant.slot(charge.merchant_id, refuse), _waiting.slot(charge.id, refuse):
        give_up_at = time.monotonic() + BUSY_WAIT_SECONDS
        while time.monotonic() < give_up_at:
            # The operation under way needs a connection to end.
            release_connection()
            reached(Failpoint.WAITING)
            context.begin_wait()
            time.sleep(BUSY_POLL_SECONDS)
            charge = charges.find(caller, charge_id)
            if opened := _opened(caller, charge, planner, place):
                return opened
            idempotency.look_up(caller)
    raise busy(charge_id)


def _opened(caller: Caller, charge: Charge, planner: Planner, place: ExitStack) -> tuple[Attempt, Operation] | None:
    """Return what `_open_with` returns, or None while another operation is under way."""
    try:
        return None if charge.operation else _open_with(caller, charge, planner, place)
    except StaleRow:
        place.close()
        return None


def _resolved(caller: Caller, charge_id: str) -> Charge:
    """Return the charge, after the lookup of an unresolved attempt. Raise PaymentError.

    A lookup may move money, and a request that was answered before must not: its key is looked up first.
    """
    charge = charges.find(caller, charge_id)
    if recovery.is_resolved(charge):
        return charge
    idempotency.look_up(caller)
    if not recovery.resolve_before(charge):
        raise busy(charge_id)
    return charges.find(caller, charge_id)


def _open_with(caller: Caller, charge: Charge, planner: Planner, place: ExitStack) -> tuple[Attempt, Operation]:
    reached(Failpoint.OPENING)
    asked_first = attempts.authorizing_attempt(charge)
    via = candidates.route_of(asked_first)
    plan = planner(charge)
    _require_ability(charge, plan, via)
    candidates.hold_place(place, via, charge.merchant_id)
    record = idempotency.new_record(caller)
    attempt = attempts.new_attempt(caller, charge, plan.kind, plan.amount, via, record, plan.refund)
    attempt.hold_days = plan.hold_days
    changes: Changes = (*plan.changes, Insert(attempt))
    if plan.refund:
        changes += (movements.refund_asked(plan.amount, is_settled=charge.settled_at is not None),)
    idempotency.write_once(caller, record, *writes_of(caller, attempt, changes, rows_after(charge, changes)))
    apply(charge, plan.changes)
    reached(Failpoint.OPENED)
    return attempt, attempts.operation_of(attempt, asked_first)


def plan_capture(charge: Charge, amount: int | None) -> Plan:
    """Plan the capture of `amount` (None: all) of a held charge. Raise PaymentError."""
    if state_of(charge) is not ChargeState.HELD:
        raise _refusal(charge, errors.CHARGE_NOT_CAPTURABLE)
    if amount is not None and amount > charge.amount:
        raise _refusal(
            charge, errors.AMOUNT_TOO_LARGE, f"The amount is larger than the {charge.amount} held.", "amount"
        )
    return Plan(Attempt.Kind.CAPTURE, amount or charge.amount, (set_operation(charge, "capture"),))


def plan_void(charge: Charge) -> Plan:
    """Plan the release of a held charge, or the void of a captured one. Raise PaymentError."""
    state = state_of(charge)
    if state is ChargeState.CAPTURED and charge.amount_refunded:
        raise _refusal(charge, errors.CHARGE_NOT_VOIDABLE, "Part of this charge was refunded; refund the rest.")
    if charge.disputed:
        raise _refusal(charge, errors.CHARGE_NOT_VOIDABLE, "The payer's bank disputes this charge.")
    if state not in state_machine.VOID.origins:
        raise _refusal(charge, errors.CHARGE_NOT_VOIDABLE)
    amount = charge.amount if state is ChargeState.HELD else charge.amount_captured
    return Plan(Attempt.Kind.VOID, amount, (set_operation(charge, "void"),))


def plan_release(charge: Charge, expired_only: bool = False) -> Plan:
    """Plan the release of a charge that is still held, or only of a hold that has expired. Raise PaymentError."""
    if expired_only and (charge.hold_expires_at is None or charge.hold_expires_at > clock.now()):
        raise _refusal(charge, errors.CHARGE_NOT_VOIDABLE, "This hold's time is not over.")
    if state_of(charge) is not ChargeState.HELD:
        raise _refusal(charge, errors.CHARGE_NOT_VOIDABLE, "Only a held charge can be released.")
    return plan_void(charge)


def plan_extend(charge: Charge) -> Plan:
    """Plan the extension of a hold. Raise PaymentError."""
    if state_of(charge) is not ChargeState.HELD:
        raise _refusal(charge, "charge_not_extendable", "Only a held charge can be kept for longer.")
    days = extension_days(charge)
    if not days:
        raise _refusal(charge, "charge_not_extendable", "The provider keeps this hold for no longer than it does.")
    return Plan(Attempt.Kind.EXTEND, charge.amount, (set_operation(charge, "extend"),), hold_days=days)


def extension_days(charge: Charge) -> int:
    """Return by how many days the provider of a held charge would extend it now; 0 where it would not."""
    # A merchant's own people are offered this too, and may not read the accounts at providers.
    with rows_of_service():
        provider = candidates.provider_of(attempts.authorizing_attempt(charge))
    capabilities = provider.capabilities(charge.source.type)
    days = capabilities.hold_extension_days if capabilities else 0
    return days if charge.hold_extended_days + days <= EXTENDED_DAYS_MAX else 0


def plan_refund(charge: Charge, amount: int | None, reason: str) -> Plan:
    """Plan a refund of `amount` (None: what is left). Raise PaymentError."""
    if state_of(charge) not in state_machine.REFUND.origins:
        raise _refusal(charge, errors.CHARGE_NOT_REFUNDABLE)
    # A race cannot exceed it: each refund changes the charge's version, which guards the write.
    if len(charge.refund_list) >= REFUNDS_MAX:
        raise _refusal(charge, errors.TOO_MANY_REFUNDS, count=REFUNDS_MAX)
    left = charge.amount_captured - charge.amount_refunded - charge.amount_disputed
    if left <= 0:
        message = "The payer's bank has taken this money back; a refund would return it twice."
        raise _refusal(charge, errors.CHARGE_NOT_REFUNDABLE, message)
    amount = left if amount is None else amount
    if amount > left:
        raise _refusal(
            charge, errors.AMOUNT_TOO_LARGE, f"The amount is larger than the {left} left to refund.", "amount"
        )
    moment = clock.now()
    money_back = Refund(
        merchant_id=charge.merchant_id,
        livemode=charge.livemode,
        charge=charge,
        amount=amount,
        currency=charge.currency,
        reason=reason,
        created_at=moment,
        updated_at=moment,
    )
    refunded = {"amount_refunded": charge.amount_refunded + amount, "operation": "refund"}
    status = refunded_status(charge.amount_captured, charge.amount_refunded + amount)
    moved = transition(charge, state_machine.REFUND, moment, status=status, **refunded)
    return Plan(Attempt.Kind.REFUND, amount, (moved, Insert(money_back)), money_back)


def _require_ability(charge: Charge, plan: Plan, via: candidates.ProviderRoute) -> None:
    """Raise PaymentError for what the charge's provider cannot do, or its route does not let it do."""
    able = candidates.capabilities_of(via, charge.source.type)
    if able is None:
        return
    if plan.kind == Attempt.Kind.VOID and charge.captured and not able.void_captured:
        raise _refusal(charge, errors.CHARGE_NOT_VOIDABLE, "The provider cannot void this charge any more; refund it.")
    if plan.refund and not able.refund:
        raise _refusal(charge, errors.CHARGE_NOT_REFUNDABLE, "The provider cannot refund this type of source.")
    if plan.refund and not able.partial_refund and plan.amount < charge.amount_captured:
        raise _refusal(
            charge, errors.CHARGE_NOT_REFUNDABLE, "The provider refunds this type of source only as a whole."
        )


def _refusal(charge: Charge, code: str, message: str = "", param: str | None = None, **values: object) -> PaymentError:
    return conflict(code, message, public_id("ch", charge.id), param, **values)
