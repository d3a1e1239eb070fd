"""Outcomes of requests whose answer was lost. Nothing is requested again that could take money twice."""

from datetime import timedelta

from payments import clock, sourcetypes
from payments.providers.base import Declined, NotFound, NotSent, Operation, Outcome, Payment, Pending, Rejected, Unknown
from payments.providers.xendit import answers, calls, operations
from payments.providers.xendit.client import Asked, XenditAnswer, XenditClient
from payments.providers.xendit.fields import text

# For how long a payment may be asked for again: how long Xendit remembers a card's reference is not published.
AGAIN = timedelta(hours=1)


def resolve_payment(client: XenditClient, payment: Payment, country: str) -> Outcome:
    """Return a payment's outcome: by its Xendit ID where there is one, else by its reference."""
    if payment.provider_ref:
        return _described(client, payment, payment.provider_ref)
    if payment.source_type == sourcetypes.CARD:
        return _resolve_card(client, payment, country)
    # A payer who never received the address of the provider's page cannot have paid there.
    return answers.payment(payment, calls.create(client, payment, country)) if _is_recent(payment) else NotFound()


def _described(client: XenditClient, payment: Payment, ref: str) -> Outcome:
    answer = calls.get_request(client, ref)
    return _refused_lookup(answer) or answers.payment(payment, answer)


def _refused_lookup(answer: Asked) -> Unknown | None:
    """Return Unknown for a refused lookup, which proves nothing about the payment; else None."""
    if isinstance(answer, XenditAnswer) and answer.error_code:
        return Unknown(f"the provider refused the lookup: {answer.error_code}")
    return None


def _resolve_card(client: XenditClient, payment: Payment, country: str) -> Outcome:
    movements = calls.movements(client, payment.reference)
    if not isinstance(movements, list):
        return movements
    if movements:
        products = [movement.get("product_data") for movement in movements]
        ref = next((text(product, "payment_request_id") for product in products if isinstance(product, dict)), "")
        return _described(client, payment, ref) if ref else Unknown("the provider does not say what moved this money")
    has_card = payment.card is not None and (payment.card.cvc is not None or payment.payer_absent)
    if not _is_recent(payment) or not has_card:
        return Unknown("the provider lists no money, which proves nothing of a hold")
    # Its reference works once, so only a payment made by this request proves anything.
    answer = calls.create(client, payment, country)
    return _refused_lookup(answer) or answers.payment(payment, answer)


def _is_recent(payment: Payment) -> bool:
    return payment.asked_at is not None and clock.now() - payment.asked_at < AGAIN


def resolve_operation(client: XenditClient, operation: Operation) -> Outcome:
    """Return the outcome of a capture, void, cancellation or refund."""
    match operation.kind:
        case Operation.Kind.REFUND:
            return _resolve_refund(client, operation)
        case Operation.Kind.CANCEL:
            return operations.cancelled(operation, calls.get_request(client, operation.payment_provider_ref))
        case Operation.Kind.EXTEND:
            return NotFound()
        case Operation.Kind.CAPTURE | Operation.Kind.VOID:
            payment_id = find_payment_id(client, operation)
            if not isinstance(payment_id, str):
                return payment_id
            answer = calls.get_payment(client, payment_id)
            read = operations.captured if operation.kind == Operation.Kind.CAPTURE else operations.voided
            return _refused_lookup(answer) or read(operation, answer)
        case unknown:
            raise ValueError(unknown)


def find_payment_id(client: XenditClient, operation: Operation) -> str | NotSent | Unknown:
    """Xendit's name of the payment that a request led to, or why there is none to be had."""
    answer = calls.get_request(client, operation.payment_provider_ref)
    if not isinstance(answer, XenditAnswer):
        return answer
    payment_id = text(answer.body, "latest_payment_id")
    return payment_id or Unknown(f"the provider names no payment: {answer.error_code}")


def _resolve_refund(client: XenditClient, operation: Operation) -> Outcome:
    movements = calls.movements(client, operation.reference)
    if not isinstance(movements, list):
        return movements
    if movements:
        return operations.listed_refund(operation, movements[0])
    if operation.provider_ref:
        return Pending(operation.provider_ref)
    outcome = operations.refunded(operation, calls.refund(client, operation))
    # Whether it is too late for this refund because it was made is unknown.
    return Unknown("asked again, the provider refused") if isinstance(outcome, Declined | Rejected) else outcome
