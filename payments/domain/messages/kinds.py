"""The kinds of messages to payers: how each is read from what it is about."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext_lazy as _

from payments.domain.messages.content import Content
from payments.domain.messages.invoices import (
    FAILURE,
    INVOICE,
    REMINDER,
    failure,
    invoice,
    invoice_delivered,
    reminder,
)
from payments.domain.messages.receipts import AGAIN, PAYMENT, REFUND, payment_receipt, refund_receipt
from payments.models import Charge, Checkout, PayerMessage, Refund


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of message, with its name for operators and the model of what it is about.

    `read` returns what a message says, None where it is not needed any more; it is called in the payer's language.
    `delivered` is called in the transaction that records that a message was taken; in live mode only.
    """

    label: Any
    about: type[Model]
    read: Callable[[PayerMessage], Content | None]
    delivered: Callable[[PayerMessage], None] = lambda _: None


KINDS = {
    PAYMENT: Kind(_("Receipt"), Charge, payment_receipt),
    AGAIN: Kind(_("Receipt, sent again"), Charge, payment_receipt),
    REFUND: Kind(_("Receipt of a refund"), Refund, refund_receipt),
    INVOICE: Kind(_("Invoice"), Checkout, invoice, invoice_delivered),
    REMINDER: Kind(_("Reminder of an invoice"), Checkout, reminder),
    FAILURE: Kind(_("Declined payment"), Checkout, failure),
}


def label_of(message: PayerMessage) -> str:
    """Return the name of a message's kind for operators."""
    return str(KINDS[message.kind].label) if message.kind in KINDS else message.kind
