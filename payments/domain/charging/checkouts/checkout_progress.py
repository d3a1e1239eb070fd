"""How a charge moves the checkout that it pays, in the same statement as the charge itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from customers.domain import checkout as customers
from payments import clock
from payments.db.fast_model import copy_with
from payments.db.writes import Update, Write
from payments.domain import prepared_reads
from payments.domain.catalogue import event_types
from payments.domain.charging.checkouts import link_stock, tries
from payments.domain.messages.invoices import failure_of
from payments.domain.shared.caller import Caller
from payments.domain.shared.checkout_changes import change
from payments.domain.shared.errors import PaymentError, conflict, merchant_closed
from payments.models import Charge, Checkout
from payments.models.checkout.checkout import ATTEMPTS_MAX

State = Checkout.State
# The events of a checkout that enters a state, by its kind.
EVENTS: Mapping[tuple[str, str], str] = {
    (Checkout.Kind.SESSION, State.PAID): event_types.SESSION_COMPLETED,
    (Checkout.Kind.SESSION, State.AUTHORIZED): event_types.SESSION_COMPLETED,
    (Checkout.Kind.SESSION, State.EXPIRED): event_types.SESSION_EXPIRED,
    (Checkout.Kind.REQUEST, State.PAID): event_types.REQUEST_SUCCEEDED,
    (Checkout.Kind.REQUEST, State.VOIDED): event_types.REQUEST_UPDATED,
}
# The events of a checkout whose attempt was declined, by its kind.
DECLINED_EVENTS: Mapping[str, str] = {Checkout.Kind.REQUEST: event_types.REQUEST_FAILED}
ENDS = (State.PAID, State.VOIDED, State.EXPIRED)


@dataclass(frozen=True, slots=True)
class CheckoutAttempt:
    """A payer's attempt to pay `checkout`: the `number` of attempts before it, and what the payer gave.

    One that `is_try` is made without the payer, with the kept card of a request.
    """

    checkout: Checkout
    number: int
    payer: Mapping[str, Any]
    is_try: bool = False


def begin(attempt: CheckoutAttempt, **others: Any) -> Update:
    """Return the write by which an attempt begins, which one of several at the same time makes, and of `others`.

    Raise PaymentError as `require_payable` does.
    """
    require_payable(attempt)
    checkout = attempt.checkout
    values = {"state": State.PAYING, "attempts": attempt.number + 1, "payer": attempt.payer, "updated_at": clock.now()}
    own = {"id": checkout.id, "merchant_id": checkout.merchant_id}
    untried = {**own, "state": State.UNPAID, "attempts": attempt.number}
    return Update(Checkout, untried, values | others)


def begin_charge(caller: Caller, attempt: CheckoutAttempt | None) -> tuple[list[Write], Checkout | None]:
    """Return the writes by which an attempt to charge begins, and the checkout as it is then; nothing for no attempt.

    Raise as `begin` does.
    """
    if attempt is None:
        return [], None
    if attempt.is_try:
        require_payable(attempt)
        return tries.begun(caller, attempt.checkout), attempt.checkout
    begun = begin(attempt)
    return [begun], copy_with(attempt.checkout, begun.values)


def _checkout_of(charge: Charge, checkout_id: UUID) -> Checkout:
    """Return the checkout of a charge: as this process has begun to pay it, else as it is now."""
    if Charge.checkout.is_cached(charge) and charge.checkout:
        return charge.checkout
    [checkout] = prepared_reads.checkout_of_charge(merchant_id=charge.merchant_id, checkout_id=checkout_id)
    return checkout


def not_payable() -> PaymentError:
    return conflict("checkout_not_payable", "This is paid, over, or being paid already.")


def require_payable(attempt: CheckoutAttempt) -> None:
    """Raise PaymentError `checkout_not_payable` where the checkout is paid, over, or already being paid, and
    `merchant_not_active` where its merchant was closed.
    """
    checkout = attempt.checkout
    if checkout.merchant.is_closed:
        raise merchant_closed()
    if checkout.state != State.UNPAID or checkout.attempts != attempt.number:
        raise not_payable()
    if checkout.attempts >= ATTEMPTS_MAX:
        raise conflict("checkout_not_payable", f"This was tried {ATTEMPTS_MAX} times and cannot be tried again.")
    if checkout.expires_at and checkout.expires_at <= clock.now():
        raise conflict("checkout_not_payable", "The time to pay this is over.")


def state_after(state: str, before: Charge, after: Charge) -> State | None:
    """Return the state to which a step of a charge moves its checkout in `state`; None where it stays.

    Of a checkout's charges one at most has not failed (`one_payment_per_checkout`). That one alone moves it: late money
    of an attempt that had ended moves nothing, whatever is under way meanwhile.
    """
    match state, before.status, after.status:
        case State.PAYING, Charge.Status.PENDING, Charge.Status.FAILED:
            return State.UNPAID
        case State.PAYING, Charge.Status.PENDING, Charge.Status.SUCCEEDED:
            return State.PAID if after.captured else State.AUTHORIZED
        case State.AUTHORIZED, Charge.Status.SUCCEEDED, Charge.Status.SUCCEEDED:
            return State.PAID if after.captured else None
        case State.AUTHORIZED, Charge.Status.SUCCEEDED, Charge.Status.VOIDED:
            return State.VOIDED
    return None


def progress(caller: Caller, before: Charge, charge: Charge) -> list[Write]:
    """Return the writes by which a step from `before` to `charge`, as it will be, moves the checkout that it pays."""
    if charge.checkout_id is None:
        return []
    checkout = _checkout_of(charge, charge.checkout_id)
    checkout.charge_list = [charge]
    state = state_after(checkout.state, before, charge)
    if state is None:
        return []
    collected = tries.recorded(caller, charge, checkout)
    if tries.was_declined(charge, checkout):
        message = [] if tries.is_try(charge, checkout) else failure_of(caller, checkout)
        return [*move(caller, checkout, state, DECLINED_EVENTS.get(checkout.kind)), *collected, *message]
    # Nobody came to the bank's page of a try, or it did not reach its provider.
    event = event_types.REQUEST_UPDATED if collected and state == State.UNPAID else None
    return [*move(caller, checkout, state, event), *collected, *_keep_card(caller, charge, checkout)]


def _keep_card(caller: Caller, charge: Charge, checkout: Checkout) -> list[Write]:
    is_kept = checkout.mode == Checkout.Mode.SUBSCRIPTION and checkout.state == State.PAID
    return customers.keep(caller, charge.customer_id, charge.source, True) if is_kept and charge.customer_id else []


def move(caller: Caller, checkout: Checkout, state: State, event: str | None = None, **others: Any) -> list[Write]:
    """Return the writes that move a checkout to `state`, with the event that shows it (default: that of `EVENTS`).

    They set `others` too.
    """
    # A hold that is captured was completed before.
    is_new = checkout.state != State.AUTHORIZED
    event = event or (EVENTS.get((checkout.kind, state)) if is_new else None)
    end = {"ended_at": clock.now(), "reserved_by": ""} if state in ENDS else {"ended_at": None}
    moved = change(caller, checkout, event, state=state, **end, **others)
    return [*moved, *link_stock.ended(caller, checkout, state)]
