"""Attempts: inserted, then asked of the provider without a lock or a connection, then recorded."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from payments import clock
from payments.domain import bulkheads, prepared_reads, provider_calls
from payments.domain.cards.card_data import card_data
from payments.domain.provider_calls import ProviderCall
from payments.domain.risk.blocks import BlockedProvider, decline_seconds
from payments.domain.routing.candidates import ProviderRoute, provider_of
from payments.domain.shared.caller import Caller
from payments.models import Attempt, Charge, IdempotencyRecord, Refund, Source
from payments.providers.base import NotSent, OnFile, Operation, Outcome, Payer, Payment, Provider, Unknown
from payments.providers.references import FollowUp, reference_of

# How long after a call's own time limit its process counts as dead.
GRACE_SECONDS = 5


def new_attempt(
    caller: Caller,
    charge: Charge,
    kind: str,
    amount: int,
    via: ProviderRoute,
    record: IdempotencyRecord | None = None,
    refund: Refund | None = None,
) -> Attempt:
    """Return an unsaved attempt, to be inserted before its provider is asked; recovery finds one without an outcome."""
    return Attempt(
        merchant_id=charge.merchant_id,
        charge=charge,
        refund=refund,
        idempotency=record,
        kind=kind,
        provider=via.provider.name,
        account=via.route.account if via.route else None,
        route=via.route,
        chosen=via.reason,
        amount=amount,
        due_at=call_deadline(via.provider),
        **request_fields(caller),
    )


def request_fields(caller: Caller) -> dict[str, Any]:
    """Return the columns by which an attempt names its request."""
    return {
        "request_id": caller.request.id,
        "api_key_id": caller.key_id,
        "idempotency_key": caller.request.idempotency.key if caller.request.idempotency else "",
        "answer_status": None,
    }


def unchanged(attempt: Attempt) -> dict[str, Any]:
    """Return what the row holds unless another process recorded an outcome or asked again: the guard of an update."""
    return {
        "id": attempt.id,
        "merchant_id": attempt.merchant_id,
        "state": attempt.state,
        "idempotency_id": attempt.idempotency_id,
    }


def reload(attempt: Attempt) -> Attempt:
    """Return the attempt with its whole charge, both as they stand at one moment."""
    whose = {"merchant_id": attempt.merchant_id, "charge_id": attempt.charge_id}
    [charge] = prepared_reads.charge_of_attempt(attempt_id=attempt.id, **whose)
    fresh: Attempt
    [fresh] = charge.attempt_list  # type: ignore[attr-defined] # put there by this read
    for refund in charge.refund_list:
        if refund.id == fresh.refund_id:
            fresh.refund = refund
    return fresh


def call_deadline(provider: Provider) -> datetime:
    """Return the moment after which a call that starts now has ended."""
    return clock.now() + timedelta(seconds=provider.timeout_seconds + GRACE_SECONDS)


def ask(attempt: Attempt, question: Callable[[Provider], Outcome]) -> Outcome:
    """Ask the attempt's provider to move the money, unless this process may count as dead before the answer.

    An exception from a connector is an unknown outcome.
    """
    provider = provider_of(attempt)
    assert attempt.due_at is not None  # nosec B101 # for the type checker: an open attempt has a deadline
    if clock.now() > attempt.due_at - timedelta(seconds=provider.timeout_seconds):
        return NotSent("too late to ask")
    outcome = look_up(attempt, question)
    is_outage = attempt.route_id is not None and isinstance(outcome, NotSent | Unknown)
    attempt.outage_at = clock.now() if is_outage else None
    return outcome


def look_up(attempt: Attempt, question: Callable[[Provider], Outcome]) -> Outcome:
    """Ask the attempt's provider `question`. An exception from a connector is an unknown outcome.

    A blocked payment is declined, and no provider is asked.
    """
    asked, is_counted = (attempt.kind, attempt.reference, attempt.request_id), attempt.block_id is None
    call = ProviderCall(attempt.provider, _account_id(attempt), *asked, is_counted)
    try:
        return provider_calls.ask(call, partial(_connect, attempt), question)
    except bulkheads.ProviderBusy as busy:
        # An earlier call may have reached it.
        return Unknown(type(busy).__name__)


def place_of(attempt: Attempt) -> AbstractContextManager[None]:
    """Hold a place to ask the attempt's provider. Raise ProviderBusy."""
    return bulkheads.provider_place(attempt.provider, _account_id(attempt))


def _account_id(attempt: Attempt) -> UUID:
    return attempt.account_id or attempt.charge.merchant_id


def _connect(attempt: Attempt) -> Any:
    provider = provider_of(attempt)
    return provider if attempt.block_id is None else BlockedProvider(provider, decline_seconds(attempt))


def payment_of(attempt: Attempt, cvc: str | None = None) -> Payment:
    """Return the payment that an authorizing attempt asks for, with the card's data unless they were destroyed.

    Raise VaultUnavailable where they cannot be decrypted now.
    """
    charge = attempt.charge
    card = getattr(charge.source, "card", None)
    payer_absent = charge.initiator == Charge.Initiator.MERCHANT
    return Payment(
        reference=attempt.reference,
        amount=charge.amount,
        currency=charge.currency,
        source_type=charge.source.type,
        capture=charge.capture_at_once,
        authenticate=charge.require_auth and not payer_absent,
        payer_absent=payer_absent,
        on_file=_on_file(charge),
        network_reference=card.network_reference if card else "",
        recurring=charge.schedule == Charge.Schedule.RECURRING,
        return_url=return_url(attempt),
        description=charge.description,
        statement_descriptor=charge.statement_descriptor,
        card=card_data(card, cvc) if card and card.sealed_number else None,
        provider_ref=attempt.provider_ref,
        asked_at=attempt.created_at,
        payer=payer_of(charge.source),
    )


def _on_file(charge: Charge) -> OnFile:
    if not charge.single_use:
        return OnFile.KEPT
    return OnFile.TO_BE_KEPT if charge.customer_id else OnFile.NO


def repeat_payment(payment: Payment, attempt: Attempt) -> Payment:
    """Return the same payment under the reference of another attempt."""
    return replace(payment, reference=attempt.reference, return_url=return_url(attempt), asked_at=attempt.created_at)


def return_url(attempt: Attempt) -> str:
    """Return the URL to which the payer's browser comes back."""
    return f"{settings.PUBLIC_URL}/return/{return_token(attempt.id)}"


def code_page_url(attempt: Attempt) -> str:
    """Return the URL of our page with the QR code that the payer scans."""
    return f"{settings.PUBLIC_URL}/pay/{return_token(attempt.id)}"


def payer_of(source: Source) -> Payer:
    """Return the source's owner, with the name on the card where the owner has none."""
    owner = source.owner or {}
    parts = [owner, owner.get("billing") or {}, owner.get("shipping") or {}]
    card = getattr(source, "card", None)
    return Payer(
        name=_first(parts, "name") or (card.name if card else ""),
        email=_first(parts, "email"),
        phone=_first(parts, "phone_number"),
    )


def _first(parts: list[dict[str, Any]], name: str) -> str:
    return next((str(part[name]) for part in parts if part.get(name)), "")


def operation_of(attempt: Attempt, payment: Attempt | None = None) -> Operation:
    """Return the capture, void, refund or extension that an attempt asks for; a reversal is a void.

    `payment` is the authorizing attempt by the same route, if it has been read.
    """
    kind = Attempt.Kind.VOID if attempt.kind == Attempt.Kind.REVERSE else attempt.kind
    asked = _operation(attempt, payment or _authorization_by_route(attempt), attempt.reference, kind)
    return replace(asked, provider_ref=attempt.provider_ref)


def request_of(attempt: Attempt) -> Payment | Operation:
    """Return the payment or operation that an attempt asks for, to be looked up."""
    return payment_of(attempt) if attempt.kind == Attempt.Kind.AUTHORIZE else operation_of(attempt)


def follow_up(attempt: Attempt, step: FollowUp) -> Operation:
    """Return the operation `step` that follows from `attempt`; it has the same reference each time."""
    return _operation(attempt, _authorization_by_route(attempt), reference_of(attempt.id, step), step)


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


def _authorization_by_route(attempt: Attempt) -> Attempt:
    """Return the authorizing attempt by the same route; a charge has one for each route that it tried."""
    whose = {"merchant_id": attempt.merchant_id, "charge_id": attempt.charge_id}
    [authorization] = prepared_reads.authorization_by_route(**whose, route_id=attempt.route_id)
    return authorization


def authorizing_attempt(charge: Charge) -> Attempt:
    """Return the charge's authorizing attempt that did not fail over, with its account and route."""
    [attempt] = prepared_reads.authorizing_attempt(merchant_id=charge.merchant_id, charge_id=charge.id)
    return attempt


def return_token(attempt_id: UUID) -> str:
    """Return the unguessable end of the URLs that an attempt's payer gets."""
    return attempt_id.hex + _mac(attempt_id.hex)


def attempt_of_return(token: str) -> UUID | None:
    """Return the ID of the attempt whose payer's URLs end in `token`; None for any other text."""
    digits, mac = token[:32], token[32:]
    if not constant_time_compare(mac, _mac(digits)):
        return None
    return UUID(hex=digits)


def _mac(digits: str) -> str:
    return salted_hmac("kaha.return", digits, algorithm="sha256").hexdigest()[:32]
