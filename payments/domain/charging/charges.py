"""Charges, in three phases: open (one transaction), call the provider (no transaction), record the outcome."""

import logging
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, transaction

from payments import clock
from payments.db.writes import Insert, StaleRow, Update, execute_writes
from payments.domain import sources
from payments.domain.bulkheads import ProviderBusy
from payments.domain.catalogue.error_table import (
    CHARGE_NOT_VERIFIABLE,
    INVALID_CHOICE,
    NOT_ALLOWED,
    REFERENCE_MISSING,
)
from payments.domain.catalogue.event_types import CHARGE_CREATED
from payments.domain.charging import attempts, record_outcome
from payments.domain.charging.checkouts import checkout_progress
from payments.domain.charging.checkouts.checkout_progress import CheckoutAttempt
from payments.domain.risk import card_testing
from payments.domain.routing import candidates
from payments.domain.routing.candidates import ProviderRoute
from payments.domain.shared import events, idempotency
from payments.domain.shared.caller import Caller, merchant_of
from payments.domain.shared.errors import NoSuchReturn, busy, conflict, invalid
from payments.domain.shared.finder import Finder
from payments.domain.shared.idempotency import Result
from payments.failpoints import Failpoint, reached
from payments.ids import is_imported, new_id, public_id
from payments.ledger.fees import rate_of
from payments.models import Attempt, Charge, Checkout, Source
from payments.providers.base import Declined, NotSent, Outcome, Payment

logger = logging.getLogger("kaha.routing")


@dataclass(frozen=True, slots=True)
class ChargeOrder:
    """What a merchant asks: `amount` in the smallest unit of `currency`, `source` by its ID or as the order of one.

    `initiator` and `schedule` are for a vaulted source only, "" for its defaults. `checkout` is the payer's attempt
    that the charge is, on a page of ours; where it succeeds, the card is kept for the customer `keep_for`.
    """

    amount: int
    currency: str
    source: str | dict[str, Any]
    description: str
    statement_descriptor: str = ""
    capture: bool = True
    require_auth: bool = True
    redirect_url: str = ""
    metadata: dict[str, Any] | None = None
    initiator: str = ""
    schedule: str = ""
    checkout: CheckoutAttempt | None = None
    keep_for: UUID | None = None


def create(caller: Caller, order: ChargeOrder, cvc: str | None = None) -> Result[Charge]:
    """Charge a source. `cvc` goes to the provider and is not stored.

    Raise PaymentError for a source that is missing, used, expired or not vaulted as the order wants it, for a hold or
    an amount that no provider takes, after too many declines, where no provider can be asked, and for a checkout that
    cannot be paid. Raise VaultUnavailable, with nothing written, when the card cannot be decrypted.
    """
    card_testing.refuse_card_testing(caller, order.source)
    with ExitStack() as place:
        opened, payment, others = _open(caller, order, cvc, place)
        attempt, outcome = _authorize(caller, opened, payment, others, place)
    return _record(caller, attempt, outcome)


# With source and refunds.
find = Finder("ch", lambda *owner: Charge.objects.of(*owner).whole())


def verify(caller: Caller, charge_id: str, confirmation_id: str, otp: str) -> Result[Charge]:
    """Confirm a debit with the payer's one-time PIN.

    A wrong PIN leaves the charge pending as long as the provider allows another try. Raise PaymentError
    `resource_missing`, `charge_not_verifiable`, for another confirmation, and where the provider is busy.
    """
    charge = find(caller, charge_id)
    if not charge.action or charge.action["type"] != "verify_otp":
        raise conflict(CHARGE_NOT_VERIFIABLE, charge_id=public_id("ch", charge.id))
    if charge.action["confirmation_id"] != confirmation_id:
        raise invalid(INVALID_CHOICE, "confirmation_id", "This is not the confirmation of the charge.")
    waiting = attempts.authorizing_attempt(charge)
    waiting.charge = charge
    with attempts.place_of(waiting):
        attempt = _reopen(caller, waiting)
        if attempt is None:
            raise busy(public_id("ch", charge.id))
        return _continue(caller, attempt, {"otp": otp})


def continue_after_return(token: str, params: Mapping[str, str]) -> Charge:
    """Ask the provider about the payment whose payer came back, and return its charge.

    The return itself proves nothing. `token` ends the return URL, `params` are its query. A busy provider is asked when
    the payer's browser polls again. Raise NoSuchReturn.
    """
    attempt_id = attempts.attempt_of_return(token)
    found = Attempt.objects.filter(id=attempt_id).first() if attempt_id else None
    if found is None:
        raise NoSuchReturn
    attempt = attempts.reload(found)
    caller = Caller.service(attempt.charge)
    if attempt.state != Attempt.State.WAITING:
        return attempt.charge
    with suppress(ProviderBusy), attempts.place_of(attempt):
        if reopened := _reopen(caller, attempt):
            _continue(caller, reopened, params)
            return attempts.reload(attempt).charge
    return attempt.charge


def _open(
    caller: Caller, order: ChargeOrder, cvc: str | None, place: ExitStack
) -> tuple[Attempt, Payment, list[ProviderRoute]]:
    """Claim the key, use the source and insert charge and attempt; hold `place` at the provider.

    The card is decrypted before everything is written at once: one that cannot be decrypted uses nothing up. Return the
    attempt, its payment, and the other routes that the charge may take.
    """
    reached(Failpoint.OPENING)
    owner, hold = (caller.merchant_id, caller.livemode), not order.capture
    while True:
        source, taken = sources.take(caller, order.source)
        _require_vaulted(source, order)
        found = candidates.routes_for(*owner, source.type, order.amount, order.currency, hold)
        via, *others = candidates.hold_first_place(place, found, caller.merchant_id)
        record = idempotency.new_record(caller)
        begun, checkout = checkout_progress.begin_charge(caller, order.checkout)
        charge = _new_charge(caller, source, order, checkout)
        created = events.of(caller, CHARGE_CREATED, charge)
        attempt = attempts.new_attempt(caller, charge, Attempt.Kind.AUTHORIZE, order.amount, via, record)
        attempt.block_id = getattr(source, "block_id", None)
        payment = replace(attempts.payment_of(attempt, cvc), initiator_stated=bool(order.initiator))
        try:
            idempotency.write_once(caller, record, *begun, *taken, Insert(charge), Insert(attempt), *created)
        except StaleRow:
            # Another request changed the source meanwhile, which changes three times at most, or the checkout.
            if begun:
                raise checkout_progress.not_payable() from None
            continue
        reached(Failpoint.OPENED)
        return attempt, payment, others


def _require_vaulted(source: Source, order: ChargeOrder) -> None:
    """Raise PaymentError `not_allowed` for an order that only a vaulted source can have, where the source is none, and
    `reference_missing` for an imported one whose network wants its first payment named, where no name came.
    """
    if source.vaulted:
        if is_imported(source.id) and order.initiator != Charge.Initiator.CUSTOMER:
            card = source.card
            # Their rules want each charge without the payer to name the first one.
            if card.brand in ("visa", "mastercard") and not card.network_reference and not card.checked_at:
                raise conflict(REFERENCE_MISSING, param="source")
        return
    for name, value in (("initiator", Charge.Initiator.MERCHANT), ("schedule", Charge.Schedule.RECURRING)):
        if getattr(order, name) == value:
            message = f"This source is not kept for a customer. Leave {name} out, or attach the source first."
            raise invalid(NOT_ALLOWED, name, message)


def _new_charge(caller: Caller, source: Source, order: ChargeOrder, checkout: Checkout | None) -> Charge:
    moment = clock.now()
    rate = rate_of(merchant_of(caller).rates, source.type, order.currency)
    charge = Charge(
        # Lists derive the time of a charge from its ID.
        id=new_id(moment),
        merchant_id=caller.merchant_id,
        livemode=caller.livemode,
        source=source,
        customer_id=source.customer_id or order.keep_for,
        checkout=checkout,
        single_use=not source.vaulted,
        initiator=order.initiator or (Charge.Initiator.MERCHANT if source.vaulted else Charge.Initiator.CUSTOMER),
        schedule=order.schedule or Charge.Schedule.UNSCHEDULED,
        amount=order.amount,
        currency=order.currency,
        fee_basis_points=rate.basis_points,
        fee_fixed=rate.fixed,
        capture_at_once=order.capture,
        require_auth=order.require_auth,
        statement_descriptor=order.statement_descriptor or merchant_of(caller).statement_descriptor,
        description=order.description,
        redirect_url=order.redirect_url,
        metadata=order.metadata,
        created_at=moment,
        updated_at=moment,
    )
    charge.refund_list = []
    return charge


def _reopen(caller: Caller, attempt: Attempt) -> Attempt | None:
    """Claim an attempt that waits for its payer, so that one process asks. Return None when another was first."""
    reached(Failpoint.OPENING)
    record = idempotency.new_record(caller)
    values = {
        "state": Attempt.State.OPEN,
        "due_at": attempts.call_deadline(candidates.provider_of(attempt)),
        # It is a new call: the lookups of earlier calls must not delay its own.
        "tries": 0,
        "idempotency_id": record.id if record else None,
        **attempts.request_fields(caller),
    }
    waiting = {"id": attempt.id, "merchant_id": attempt.merchant_id, "state": Attempt.State.WAITING}
    try:
        idempotency.write_once(caller, record, Update(Attempt, waiting, values))
    except StaleRow:
        return None
    reached(Failpoint.OPENED)
    for name, value in values.items():
        setattr(attempt, name, value)
    return attempt


def _continue(caller: Caller, attempt: Attempt, params: Mapping[str, str]) -> Result[Charge]:
    # A card that cannot be decrypted now leaves the outcome unknown, to be looked up.
    outcome = attempts.ask(attempt, lambda provider: provider.continue_payment(attempts.payment_of(attempt), params))
    return _record(caller, attempt, outcome)


def _record(caller: Caller, attempt: Attempt, outcome: Outcome) -> Result[Charge]:
    result = record_outcome.record(caller, attempt, outcome)
    card_testing.count(caller, attempt.charge.source, outcome, attempt.charge)
    return result


def _authorize(
    caller: Caller, attempt: Attempt, payment: Payment, others: Iterable[ProviderRoute], place: ExitStack
) -> tuple[Attempt, Outcome]:
    """Ask for the money by the attempt's route, then by the `others` as needed; return the last attempt, its outcome.

    That is where the route before certainly moved no money, never after an unknown outcome. `place` is held at the
    attempt's provider, and then at those of the others.
    """
    outcome = _ask(attempt, payment)
    for via in others:
        is_own_fault = isinstance(outcome, Declined) and outcome.retryable
        if not isinstance(outcome, NotSent) and not is_own_fault:
            break
        try:
            candidates.hold_place(place, via, caller.merchant_id)
        except ProviderBusy:
            continue
        if (fresh := _fail_over(caller, attempt, outcome, via)) is None:
            break
        attempt = fresh
        outcome = _ask(attempt, attempts.repeat_payment(payment, attempt))
    return attempt, outcome


def _ask(attempt: Attempt, payment: Payment) -> Outcome:
    return attempts.ask(attempt, lambda provider: provider.create_payment(payment))


def _fail_over(caller: Caller, attempt: Attempt, outcome: Outcome, via: ProviderRoute) -> Attempt | None:
    """Insert and return an attempt by the next route, and close the one before it.

    Return None where another process has recorded that one, or where the database refuses the write.
    """
    fresh = attempts.new_attempt(caller, attempt.charge, attempt.kind, attempt.amount, via, attempt.idempotency)
    # It names the provider: an account's title may be of any length.
    what = "could not be reached" if isinstance(outcome, NotSent) else "declined for a fault of its own"
    fresh.chosen = f"after {attempt.provider}, which {what}"
    closed = {
        "state": Attempt.State.DONE,
        "outcome": type(outcome).__name__,
        "passed_on": True,
        "outage_at": attempt.outage_at,
        "response": record_outcome.response_of(outcome),
        "provider_ref": getattr(outcome, "provider_ref", ""),
        "idempotency_id": None,
        "due_at": None,
        "updated_at": clock.now(),
    }
    try:
        # In two statements: a charge has one authorizing attempt at a time.
        with transaction.atomic():
            execute_writes(Update(Attempt, attempts.unchanged(attempt), closed))
            execute_writes(Insert(fresh))
    except StaleRow:
        return None
    except (DatabaseError, InterfaceError):
        logger.exception("charge could not fail over to another route", extra={"attempt": attempt.reference})
        return None
    return fresh
