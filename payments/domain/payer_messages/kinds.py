"""The kinds of messages to payers: how each is read from what it is about."""

from collections.abc import Callable
from dataclasses import dataclass

from payments.domain.payer_messages.content import Content
from payments.domain.payer_messages.receipts import PAYMENT, REFUND, payment_receipt, refund_receipt
from payments.models import PayerMessage


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of message, with its name for operators.

    `read` returns what a message says, None where it is not needed any more; it is called in the payer's language.
    `delivered`, if any, is called in the transaction that records that a message was taken; in live mode only.
    """

    label: str
    read: Callable[[PayerMessage], Content | None]
    delivered: Callable[[PayerMessage], None] | None = None


KINDS = {
    PAYMENT: Kind("Receipt", payment_receipt),
    REFUND: Kind("Receipt of a refund", refund_receipt),
}
