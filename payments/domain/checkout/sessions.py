"""Checkout sessions: made by a program for one payer, who pays once on a page of ours."""

import logging
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.db import DatabaseError, InterfaceError, transaction

from customers.domain import checkout as customers
from customers.domain.checkout import KnownCustomer
from payments import clock
from payments.db.writes import Insert, StaleRow, execute_writes
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue import error_table as errors
from payments.domain.catalogue.event_types import SESSION_CREATED
from payments.domain.charging import operations
from payments.domain.charging.checkouts import checkout_progress
from payments.domain.checkout import availability
from payments.domain.shared import events, idempotency
from payments.domain.shared.caller import Caller, IdempotencyKey
from payments.domain.shared.errors import PaymentError, conflict
from payments.domain.shared.finder import Finder
from payments.domain.shared.idempotency import Replay, Result, StoredAnswer
from payments.ids import public_id
from payments.models import Charge, Checkout, Merchant
from payments.models.checkout.checkout import PREFIXES
from payments.rendering.objects.checkout import total_of
from payments.sweeps.in_turn import Moment, each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope

logger = logging.getLogger("kaha.recording")

OK = 200
LIFE = timedelta(hours=24)
State = Checkout.State
# Members of an order that are columns.
COLUMNS = ("mode", "client_reference_id")


def create(
    caller: Caller, merchant: Merchant, order: dict[str, Any], render: Callable[[Checkout], StoredAnswer]
) -> Result[Checkout]:
    """Create a session of `merchant` from a validated request body. `render` makes the answer that is stored with it.

    Raise PaymentError `resource_missing` for no such customer, `source_type_unavailable` where a way to pay is switched
    off, or no provider takes it, and `not_available` for an order that none can take.
    """
    contact = customers.find(caller, order["customer"]) if order.get("customer") else None
    availability.require_types(caller, order["payment_method_types"])
    session = new_session(caller, merchant, order, contact)
    whole = (session.amount, session.amount)
    availability.require_taken(caller, order["payment_method_types"], session.currency, whole, session.mode)
    answer = render(session)
    created = events.of(caller, SESSION_CREATED, session)
    idempotency.write_once(caller, idempotency.new_record(caller, answer), Insert(session), *created)
    return Result(session, answer)


def new_session(
    caller: Caller, merchant: Merchant, order: dict[str, Any], contact: KnownCustomer | None = None
) -> Checkout:
    """Return the session that `create` saves, for `contact` if the order names a customer."""
    moment = clock.now()
    is_saved_only = order["mode"] == Checkout.Mode.SAVE_CARD
    session = Checkout(
        merchant=merchant,
        livemode=caller.livemode,
        amount=0 if is_saved_only else total_of(order["line_items"]),
        currency=order["currency"].upper(),
        order={name: value for name, value in order.items() if name not in (*COLUMNS, "expires_at")},
        expires_at=order.get("expires_at") or moment + LIFE,
        customer_id=contact.id if contact else None,
        payer={"email": contact.email, "phone": contact.phone} if contact else {},
        created_at=moment,
        updated_at=moment,
        **{name: order[name] for name in COLUMNS if name in order},
    )
    session.charge_list = []
    return session


def finder_of(kind: Checkout.Kind) -> Finder[Checkout]:
    """Return the finder of the checkouts of one kind, with their charges."""
    return Finder(PREFIXES[kind], lambda *owner: Checkout.objects.of(*owner).filter(kind=kind).whole(owner[0]))


find = finder_of(Checkout.Kind.SESSION)


def expire(caller: Caller, text: str, render: Callable[[Checkout], StoredAnswer]) -> Result[Checkout]:
    """End a session that is not paid. Raise PaymentError `session_busy` while the outcome of an attempt is open,
    `session_not_expirable` after its end.
    """
    session = find(caller, text)
    if session.state == State.PAYING:
        raise conflict(errors.SESSION_BUSY)
    if session.state != State.UNPAID:
        raise conflict(errors.SESSION_NOT_EXPIRABLE, state=session.state)
    writes = checkout_progress.move(caller, session, State.EXPIRED)
    answer = render(session)
    try:
        idempotency.write_once(caller, idempotency.new_record(caller, answer), *writes)
    except StaleRow:
        return expire(caller, text, render)
    return Result(session, answer)


@transaction.atomic
def expire_for_operator(session: Checkout) -> None:
    """End a session for an operator, whose action is recorded. Raise PaymentError as `expire` does."""
    expire(Caller(session.merchant_id, session.livemode), str(session), lambda _: StoredAnswer(OK, b""))
    audit_log.record(Action.EXPIRED, session)


def expire_due(scope: Scope = ALL_MERCHANTS) -> int:
    """End the checkouts whose time is over; return how many.

    One that is being paid then is paid in time, or ends after its attempt.
    """
    due = Checkout.objects.whole().filter(scope.within(), state=State.UNPAID, expires_at__lte=Moment())
    return each_in_turn(due, "expires_at", _expire_one)


def _expire_one(checkout: Checkout) -> bool:
    caller = Caller(checkout.merchant_id, checkout.livemode)
    execute_writes(*checkout_progress.move(caller, checkout, State.EXPIRED))
    return True


def capture(
    caller: Caller, text: str, amount: int | None, render: Callable[[Checkout], StoredAnswer]
) -> Result[Checkout]:
    """Capture `amount` (default: all) of a held session.

    The capture has a key of its own, so that a request that is sent again after a crash is answered by what it did.
    Raise PaymentError `session_not_capturable` where nothing is held, and as `operations.capture` does.
    """
    idempotency.look_up(caller)
    held = find(caller, text)
    before = held.paid_by
    if before is None:
        raise _not_capturable()
    held.charge_list = [_capture_once(caller, before, amount)]
    try:
        session = find(caller, text)
        answer = render(session)
        idempotency.store_answer(caller, answer)
    except (DatabaseError, InterfaceError):
        # Money may have moved, so this is no failure to the caller.
        logger.exception("capture of a session could not be read again", extra={"checkout": str(held)})
        held.state = checkout_progress.state_after(held.state, before, held.charge_list[0]) or held.state
        session, answer = held, render(held)
    return Result(session, answer)


def _capture_once(caller: Caller, charge: Charge, amount: int | None) -> Charge:
    """Return the captured charge. Raise as `capture` does."""
    key = caller.request.idempotency
    own = IdempotencyKey(f"capture/{sha256(key.key.encode()).hexdigest()}", key.fingerprint, True) if key else None
    inner = caller.under(own)
    try:
        idempotency.look_up(inner)
        done = operations.capture(inner, public_id("ch", charge.id), amount)
    except Replay as replay:
        if replay.answer.status != OK:
            raise _not_capturable() from None
        return charge
    except PaymentError as refusal:
        raise _refused(refusal) from None
    if done.refusal:
        raise _refused(done.refusal)
    return done.row


def _refused(refusal: PaymentError) -> PaymentError:
    return _not_capturable() if refusal.code == errors.CHARGE_NOT_CAPTURABLE else refusal


def _not_capturable() -> PaymentError:
    return conflict(errors.SESSION_NOT_CAPTURABLE)
