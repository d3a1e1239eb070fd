"""Attempts: written down, then asked of the provider with nothing held, then recorded."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from payments import clock
from payments.connections import release_connection
from payments.domain import bulkheads, prepared_reads
from payments.domain.caller import Caller
from payments.domain.cards.card_data import card_data
from payments.domain.references import FollowUp, reference_of
from payments.domain.risk.blocks import BlockedProvider, decline_seconds
from payments.domain.routing.candidates import Way, provider_of
from payments.models import Attempt, Charge, IdempotencyRecord, Refund, Source
from payments.providers.base import NotSent, Operation, Outcome, Payer, Payment, Provider, Unknown
from payments.steps import Step, reached

logger = logging.getLogger("kaha.attempts")

# How long after a call's own time limit its process is taken for dead.
GRACE_SECONDS = 5


def new_attempt(
    caller: Caller,
    charge: Charge,
    kind: str,
    amount: int,
    way: Way,
    record: IdempotencyRecord | None = None,
    refund: Refund | None = None,
) -> Attempt:
    """An attempt to be inserted before its provider is asked; recovery takes it over when nobody records it."""
    return Attempt(
        charge=charge,
        refund=refund,
        idempotency=record,
        kind=kind,
        provider=way.provider.name,
        account=way.route.account if way.route else None,
        route=way.route,
        chosen=way.why,
        amount=amount,
        due_at=asking_ends_at(way.provider),
        **asked_by(caller),
    )


def asked_by(caller: Caller) -> dict[str, Any]:
    """What an attempt keeps of the request that asks for it."""
    return {
        "request_id": caller.request_id,
        "api_key_id": caller.key_id,
        "idempotency_key": caller.idempotency.key if caller.idempotency else "",
        "answer_status": None,
    }


def in_hand(attempt: Attempt) -> dict[str, Any]:
    """What the attempt's row holds as long as nobody else recorded an outcome or asked again."""
    return {"id": attempt.id, "state": attempt.state, "idempotency_id": attempt.idempotency_id}


def reload(attempt: Attempt) -> Attempt:
    """The attempt as it is now, its charge whole and in hand, as both stand at one moment."""
    [charge] = prepared_reads.charge_of_attempt(attempt_id=attempt.id, charge_id=attempt.charge_id)
    fresh: Attempt
    [fresh] = charge.attempt_list  # type: ignore[attr-defined] # put there by this read
    for refund in charge.refund_list:
        if refund.id == fresh.refund_id:
            fresh.refund = refund
    return fresh


def asking_ends_at(provider: Provider) -> datetime:
    """The moment after which a call that starts now is surely over."""
    return clock.now() + timedelta(seconds=provider.timeout_seconds + GRACE_SECONDS)


def ask(attempt: Attempt, question: Callable[[Provider], Outcome]) -> Outcome:
    """Asks the attempt's provider to move the money, as long as nobody can take this process for dead.

    Whatever escapes from a connector is an unknown outcome.
    """
    provider = provider_of(attempt)
    assert attempt.due_at is not None  # nosec B101 # for the type checker: what is asked is due
    if clock.now() > attempt.due_at - timedelta(seconds=provider.timeout_seconds):
        return NotSent("too late to ask")
    outcome = look_up(attempt, question)
    is_outage = attempt.route_id is not None and isinstance(outcome, NotSent | Unknown)
    attempt.outage_at = clock.now() if is_outage else None
    return outcome


def look_up(attempt: Attempt, question: Callable[[Provider], Outcome]) -> Outcome:
    """Asks the attempt's provider what became of it. Whatever escapes from a connector is an unknown outcome.

    A blocked payment is declined, and nobody is asked.
    """
    reached(Step.ASKING)
    try:
        provider: Any = provider_of(attempt)
        if attempt.block_id is not None:
            provider = BlockedProvider(provider, decline_seconds(attempt))
        # Most callers hold a place already; nobody holds a connection to the database meanwhile.
        with place_of(attempt):
            release_connection()
            outcome = question(provider)
    except Exception as error:
        logger.exception("provider call broke", extra={"attempt": attempt.reference, "kind": attempt.kind})
        outcome = Unknown(type(error).__name__)
    reached(Step.ANSWERED)
    return outcome


def place_of(attempt: Attempt) -> AbstractContextManager[None]:
    """Hold a place to ask the attempt's provider. Raises ProviderBusy."""
    return bulkheads.provider_place(attempt.provider, attempt.account_id or attempt.charge.merchant_id)


def payment_of(attempt: Attempt, cvc: str | None = None) -> Payment:
    """The payment that an authorizing attempt asks for, with the card's data as far as they are still there.

    Raises VaultUnavailable where they cannot be opened at the moment.
    """
    charge = attempt.charge
    card = getattr(charge.source, "card", None)
    return Payment(
        reference=attempt.reference,
        amount=charge.amount,
        currency=charge.currency,
        source_type=charge.source.type,
        capture=charge.capture_at_once,
        authenticate=charge.require_auth and charge.single_use,
        payer_absent=not charge.single_use,
        return_url=return_url(attempt),
        description=charge.description,
        statement_descriptor=charge.statement_descriptor,
        card=card_data(card, cvc) if card and card.sealed_number else None,
        provider_ref=attempt.provider_ref,
        asked_at=attempt.created_at,
        payer=_payer(charge.source),
    )


def asked_again(payment: Payment, attempt: Attempt) -> Payment:
    """The same payment as another attempt asks for it."""
    return replace(payment, reference=attempt.reference, return_url=return_url(attempt), asked_at=attempt.created_at)


def return_url(attempt: Attempt) -> str:
    """The address to which the payer's browser comes back."""
    return f"{settings.PUBLIC_URL}/return/{return_token(attempt.id)}"


def code_page_url(attempt: Attempt) -> str:
    """The address of our page with the code that the payer scans."""
    return f"{settings.PUBLIC_URL}/pay/{return_token(attempt.id)}"


def _payer(source: Source) -> Payer:
    """Whoever the source's owner says, else whose name is on the card."""
    owner = source.owner or {}
    told = [owner, owner.get("billing") or {}, owner.get("shipping") or {}]
    card = getattr(source, "card", None)
    return Payer(
        name=_first(told, "name") or (card.name if card else ""),
        email=_first(told, "email"),
        phone=_first(told, "phone_number"),
    )


def _first(told: list[dict[str, Any]], name: str) -> str:
    return next((str(part[name]) for part in told if part.get(name)), "")


def operation_of(attempt: Attempt, payment: Attempt | None = None) -> Operation:
    """The capture, void, refund or extension that an attempt asks for; money goes back by a void.

    `payment` is the attempt that asked for the money by the same route, if it is in hand.
    """
    kind = Attempt.Kind.VOID if attempt.kind == Attempt.Kind.REVERSE else attempt.kind
    asked = _operation(attempt, payment or _asked_first(attempt), attempt.reference, kind)
    return replace(asked, provider_ref=attempt.provider_ref)


def asked_of(attempt: Attempt) -> Payment | Operation:
    """What an attempt asks for, to be looked up."""
    return payment_of(attempt) if attempt.kind == Attempt.Kind.AUTHORIZE else operation_of(attempt)


def follow_up(attempt: Attempt, step: FollowUp) -> Operation:
    """An operation on a payment that follows from `attempt` by itself: the same `step`, the same reference."""
    return _operation(attempt, _asked_first(attempt), reference_of(attempt.id, step), step)


def _operation(attempt: Attempt, payment: Attempt, reference: str, kind: str) -> Operation:
    return Operation(
        reference=reference,
        kind=kind,
        payment_reference=payment.reference,
        payment_provider_ref=payment.provider_ref,
        amount=attempt.amount,
        currency=attempt.charge.currency,
        reason=attempt.refund.reason if attempt.refund else "",
        hold_days=attempt.hold_days or 0,
        source_type=attempt.charge.source.type,
    )


def _asked_first(attempt: Attempt) -> Attempt:
    """The attempt that asked for the money by the same route: a charge has one for each that it went by."""
    [asked_first] = prepared_reads.attempt_asked_first(charge_id=attempt.charge_id, route_id=attempt.route_id)
    return asked_first


def authorizing(charge_id: UUID) -> Attempt:
    """The one attempt that asked for the charge's money and was not passed on, its account and route in hand."""
    [attempt] = prepared_reads.authorizing_attempt(charge_id=charge_id)
    return attempt


def return_token(attempt_id: UUID) -> str:
    """The unguessable end of the addresses that an attempt's payer is given."""
    return attempt_id.hex + _mac(attempt_id.hex)


def attempt_returned_to(token: str) -> UUID | None:
    """The attempt whose payer's addresses end in `token`; None for any other text."""
    digits, mac = token[:32], token[32:]
    if not constant_time_compare(mac, _mac(digits)):
        return None
    return UUID(hex=digits)


def _mac(digits: str) -> str:
    return salted_hmac("kaha.return", digits, algorithm="sha256").hexdigest()[:32]
