"""How Xendit's answers are read. What it says of money counts only where amount, currency and reference are ours."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from payments.money import major_units
from payments.providers.base import Approved, Declined, NotSent, Operation, Outcome, Payment, Rejected, Unknown
from payments.providers.payouts import PayoutOrder
from payments.providers.xendit.client import Asked, XenditAnswer

Body = Mapping[str, Any]
Question = TypeVar("Question", Payment, Operation)

OTHER_MONEY = Unknown("the provider names another amount")
OTHER_STATUS = Unknown("the provider names a status that is not known")
# Refusals that pass by themselves.
BUSY = frozenset(["TEMPORARILY_UNAVAILABLE", "PAYMENT_REQUEST_RATE_LIMITED"])
# Refusals that say in which state the payment is.
STATES = frozenset(
    [
        "INACTIVE_PAYMENT_REQUEST",
        "INELIGIBLE_TRANSACTION_STATUS",
        "CAPTURE_AMOUNT_EXCEEDED",
        "REFUND_AMOUNT_EXCEEDED",
        "PARTIAL_REFUND_COUNTS_EXCEEDED",
    ]
)


def read_about(
    asked: Question, reference: str, answer: Asked, describe: Callable[[Question, Body], Outcome]
) -> Outcome:
    """Return `describe` of an answer about our `reference`, in the requested currency."""
    if not isinstance(answer, XenditAnswer):
        return answer
    if answer.error_code:
        return refused(answer)
    body = answer.body
    is_ours = body.get("reference_id") == reference and body.get("currency") == asked.currency
    return describe(asked, body) if is_ours else OTHER_MONEY


def refused(answer: XenditAnswer) -> Outcome:
    """Return the outcome of a refusal that is not the payer's fault."""
    if answer.error_code in BUSY:
        return NotSent(answer.error_code)
    if answer.error_code in STATES:
        return impossible(answer.error_code)
    return Rejected(answer.error_code, text(answer.body, "message"))


def credentials(answer: Asked) -> Outcome:
    """Whether Xendit knows the account that asked."""
    if not isinstance(answer, XenditAnswer):
        return answer
    return refused(answer) if answer.error_code else Approved("")


def impossible(why: str) -> Declined:
    """Return the answer to an operation that the state of the payment does not allow."""
    return Declined("processing_error", provider_code=why)


def is_whole(body: Body, name: str, asked: Payment | Operation | PayoutOrder) -> bool:
    """Whether a member is the amount that was asked for."""
    amount = body.get(name)
    return isinstance(amount, Decimal) and amount == major_units(asked.amount, asked.currency)


def text(body: Body, name: str) -> str:
    """Return a text member; empty where it is no text."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def objects(body: Body, name: str) -> list[Body]:
    """Return the objects in a list member; none where it is no list."""
    values = body.get(name)
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
