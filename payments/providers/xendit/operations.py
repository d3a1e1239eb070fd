"""How a capture, void, cancellation or refund stands, by Xendit's answers."""

from decimal import Decimal

from payments.money import major_units
from payments.providers.base import Approved, Declined, NotFound, Operation, Outcome, Pending
from payments.providers.xendit.client import Asked, XenditAnswer
from payments.providers.xendit.fields import (
    OTHER_MONEY,
    OTHER_STATUS,
    Body,
    impossible,
    is_whole,
    objects,
    read_about,
    text,
)


def captured(operation: Operation, answer: Asked) -> Outcome:
    """How a capture stands, by its payment; NotFound where the money is still held."""
    return read_about(operation, operation.payment_reference, answer, _captured)


def _captured(operation: Operation, body: Body) -> Outcome:
    match body.get("status"):
        case "SUCCEEDED":
            return _taken(operation, body)
        case "AUTHORIZED":
            return NotFound()
        case "PENDING":
            return Pending("")
        case "CANCELED" | "EXPIRED" | "FAILED" as status:
            return impossible(status)
        case _:
            return OTHER_STATUS


def _taken(operation: Operation, body: Body) -> Outcome:
    made = objects(body, "captures")
    amounts = [capture.get("capture_amount") for capture in made]
    taken = sum(amount for amount in amounts if isinstance(amount, Decimal))
    if not made or taken != major_units(operation.amount, operation.currency):
        return OTHER_MONEY
    return Approved(text(made[0], "capture_id"))


def voided(operation: Operation, answer: Asked) -> Outcome:
    """How a void stands, by its payment; NotFound where the money is still held."""
    return read_about(operation, operation.payment_reference, answer, _voided)


def _voided(operation: Operation, body: Body) -> Outcome:
    match body.get("status"):
        case "CANCELED" | "EXPIRED" as status:
            return Approved("", response={"status": status})
        case "AUTHORIZED":
            return NotFound()
        case "SUCCEEDED" | "FAILED" as status:
            return impossible(status)
        case _:
            return OTHER_STATUS


def cancelled(operation: Operation, answer: Asked) -> Outcome:
    """Whether a request that waited for its payer can be paid no more."""
    return read_about(operation, operation.payment_reference, answer, _cancelled)


def _cancelled(operation: Operation, body: Body) -> Outcome:
    return Approved("") if body.get("status") == "CANCELED" else OTHER_STATUS


def refunded(operation: Operation, answer: Asked) -> Outcome:
    """How a refund stands, by its own description."""
    if isinstance(answer, XenditAnswer) and answer.error_code == "REFUND_IN_PROGRESS":
        # This one, or another of the same payment: it is asked for again until Xendit takes it or lists it.
        return Pending(operation.provider_ref)
    return read_about(operation, operation.reference, answer, _refunded)


def _refunded(operation: Operation, body: Body) -> Outcome:
    ref = text(body, "id")
    if not ref or not is_whole(body, "amount", operation):
        return OTHER_MONEY
    match body.get("status"):
        case "SUCCEEDED":
            return Approved(ref)
        case "PENDING":
            return Pending(ref)
        case "FAILED" | "CANCELLED" as status:
            return Declined("processing_error", ref, text(body, "failure_code") or status)
        case _:
            return OTHER_STATUS


def listed_refund(operation: Operation, movement: Body) -> Outcome:
    """How a refund stands, by the movement of money that it is listed as."""
    ref = operation.provider_ref or text(movement, "product_id")
    if movement.get("currency") != operation.currency or not is_whole(movement, "amount", operation):
        return OTHER_MONEY
    match movement.get("status"):
        case "SUCCESS":
            return Approved(ref)
        case "PENDING":
            return Pending(ref)
        case "FAILED" | "VOIDED" | "REVERSED" as status:
            return Declined("processing_error", ref, status)
        case _:
            return OTHER_STATUS
