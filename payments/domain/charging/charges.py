"""Taking money: a charge is opened, asked of the provider, and recorded (see `attempts` and `record_outcome`)."""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from payments import clock
from payments.db.writes import Insert, StaleRow, Update
from payments.domain import events, idempotency, prepared_reads
from payments.domain.bulkheads import ProviderBusy
from payments.domain.caller import Caller
from payments.domain.charging import attempts, failover, record_outcome, sources
from payments.domain.errors import NoSuchReturn, busy, conflict, invalid, not_found
from payments.domain.idempotency import Result
from payments.domain.risk import card_testing
from payments.domain.routing import candidates
from payments.domain.routing.candidates import Way
from payments.ids import new_id, parse_id, public_id
from payments.ledger.fees import rate_of
from payments.models import Attempt, Charge, Source
from payments.providers.base import Outcome, Payment
from payments.steps import Step, reached


@dataclass(frozen=True, slots=True)
class ChargeOrder:
    """What a merchant asks: `amount` in the smallest unit of `currency`, `source` as a public ID."""

    amount: int
    currency: str
    source: str
    description: str
    statement_descriptor: str = ""
    capture: bool = True
    require_auth: bool = True
    redirect_url: str = ""
    metadata: dict[str, Any] | None = None


def create(caller: Caller, order: ChargeOrder, cvc: str | None = None) -> Result[Charge]:
    """Charges a source. `cvc` is passed on to the provider and kept nowhere.

    Raise PaymentError for no such source, one that is used or expired, a hold or an amount that no provider takes,
    after too many declines, and where all providers are out or busy; and
    VaultUnavailable, with nothing written, when the card cannot be opened.
    """
    card_testing.refuse_tester(caller, order.source)
    with ExitStack() as place:
        opened, payment, others = _open(caller, order, cvc, place)
        attempt, outcome = failover.take(caller, opened, payment, others, place)
    return _record(caller, attempt, outcome)


def find(caller: Caller, text: str) -> Charge:
    """The caller's charge of this public ID, whole. Raises PaymentError `resource_missing`."""
    uuid = parse_id("ch", text)
    charge = (
        prepared_reads.charge.first(merchant_id=caller.merchant_id, livemode=caller.livemode, charge_id=uuid)
        if uuid
        else None
    )
    if charge is None:
        raise not_found("charge")
    return charge


def verify(caller: Caller, charge_id: str, confirmation_id: str, otp: str) -> Result[Charge]:
    """Confirms a debit with the one-time PIN that the payer got.

    A wrong PIN leaves the charge pending as long as the provider allows another try. Raise PaymentError
    `resource_missing`, `charge_not_verifiable`, for another confirmation, and where the provider is busy.
    """
    charge = find(caller, charge_id)
    if not charge.action or charge.action["type"] != "verify_otp":
        message = "This charge does not wait for a one-time PIN."
        raise conflict("charge_not_verifiable", message, public_id("ch", charge.id))
    if charge.action["confirmation_id"] != confirmation_id:
        raise invalid("invalid_choice", "confirmation_id", "This is not the confirmation of the charge.")
    waiting = attempts.authorizing(charge.id)
    waiting.charge = charge
    with attempts.place_of(waiting):
        attempt = _reopen(caller, waiting)
        if attempt is None:
            raise busy(public_id("ch", charge.id))
        return _go_on(caller, attempt, {"otp": otp})


def payer_returned(token: str, params: Mapping[str, str]) -> Charge:
    """The charge whose payer came back, after the provider was asked; the return itself proves nothing.

    `token` ends the return address, `params` are its query. A provider that is busy is asked when the payer's browser
    looks again. Raises NoSuchReturn.
    """
    attempt_id = attempts.attempt_returned_to(token)
    found = Attempt.objects.filter(id=attempt_id).first() if attempt_id else None
    if found is None:
        raise NoSuchReturn
    attempt = attempts.reload(found)
    caller = Caller.service(attempt.charge)
    if attempt.state != Attempt.State.WAITING:
        return attempt.charge
    with suppress(ProviderBusy), attempts.place_of(attempt):
        if reopened := _reopen(caller, attempt):
            _go_on(caller, reopened, params)
            return attempts.reload(attempt).charge
    return attempt.charge


def _open(caller: Caller, order: ChargeOrder, cvc: str | None, place: ExitStack) -> tuple[Attempt, Payment, list[Way]]:
    """The first phase: key taken, source used, charge and attempt on record, `place` held at the provider.

    Returns the other ways that the charge may go, too.
    """
    reached(Step.OPENING)
    while True:
        source = sources.find_chargeable(caller, order.source)
        # Somebody else changed it meanwhile, and it says what it is now; it changes thrice at most.
        with suppress(StaleRow):
            return _write_down(caller, order, source, cvc, place)


def _write_down(
    caller: Caller, order: ChargeOrder, source: Source, cvc: str | None, place: ExitStack
) -> tuple[Attempt, Payment, list[Way]]:
    """Opens the card first, so that one that cannot be opened uses nothing up; then writes everything at once."""
    hold = not order.capture
    ways = candidates.ways(caller.merchant_id, caller.livemode, source.type, order.amount, order.currency, hold)
    way, *others = candidates.take_first_place(place, ways, caller.merchant_id)
    record = idempotency.new_record(caller)
    charge = _new_charge(caller, source, order)
    taken = sources.take(caller, source)
    created = events.of(caller, "charge.created", charge)
    attempt = attempts.new_attempt(caller, charge, Attempt.Kind.AUTHORIZE, order.amount, way, record)
    attempt.block_id = getattr(source, "block_id", None)
    payment = attempts.payment_of(attempt, cvc)
    idempotency.write_once(caller, record, *taken, Insert(charge), Insert(attempt), *created)
    reached(Step.OPENED)
    return attempt, payment, others


def _new_charge(caller: Caller, source: Source, order: ChargeOrder) -> Charge:
    moment = clock.now()
    rate = rate_of(caller.rates, source.type, order.currency)
    charge = Charge(
        # Lists find the time of a charge by its ID.
        id=new_id(moment),
        merchant_id=caller.merchant_id,
        livemode=caller.livemode,
        source=source,
        customer_id=source.customer_id,
        single_use=not source.vaulted,
        amount=order.amount,
        currency=order.currency,
        fee_basis_points=rate.basis_points,
        fee_fixed=rate.fixed,
        capture_at_once=order.capture,
        require_auth=order.require_auth,
        statement_descriptor=order.statement_descriptor or caller.statement_descriptor,
        description=order.description,
        redirect_url=order.redirect_url,
        metadata=order.metadata,
        created_at=moment,
        updated_at=moment,
    )
    charge.refund_list = []
    return charge


def _reopen(caller: Caller, attempt: Attempt) -> Attempt | None:
    """Claims an attempt that waits for its payer, so that one process asks; None when another was first."""
    reached(Step.OPENING)
    record = idempotency.new_record(caller)
    values = {
        "state": Attempt.State.OPEN,
        "due_at": attempts.asking_ends_at(candidates.provider_of(attempt)),
        # It is a new question: the lookups of the ones before must not put off its own.
        "tries": 0,
        "idempotency_id": record.id if record else None,
        **attempts.asked_by(caller),
    }
    waiting = {"id": attempt.id, "state": Attempt.State.WAITING}
    try:
        idempotency.write_once(caller, record, Update(Attempt, waiting, values))
    except StaleRow:
        return None
    reached(Step.OPENED)
    for name, value in values.items():
        setattr(attempt, name, value)
    return attempt


def _go_on(caller: Caller, attempt: Attempt, params: Mapping[str, str]) -> Result[Charge]:
    # A card that cannot be opened at the moment leaves the outcome unknown, to be looked up.
    outcome = attempts.ask(attempt, lambda provider: provider.continue_payment(attempts.payment_of(attempt), params))
    return _record(caller, attempt, outcome)


def _record(caller: Caller, attempt: Attempt, outcome: Outcome) -> Result[Charge]:
    result = record_outcome.record(caller, attempt, outcome)
    card_testing.count(caller, attempt.charge, outcome)
    return result
