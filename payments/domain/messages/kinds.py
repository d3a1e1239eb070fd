"""The kinds of messages to payers: a line each, whose words are the template of its name in `templates/mail`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from payments.domain.messages.content import letter_of
from payments.domain.messages.invoices import FAILURE, INVOICE, REMINDER, failure, invoice, invoice_delivered
from payments.domain.messages.letters import Letter
from payments.domain.messages.receipts import AGAIN, PAYMENT, REFUND, payment_receipt, refund_receipt
from payments.models import Charge, Checkout, PayerMessage, Refund

RELATED: dict[type[Model], tuple[str, ...]] = {
    Charge: ("merchant", "source__card", "checkout"),
    Refund: ("charge__merchant", "charge__source__card"),
    Checkout: ("merchant",),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of message, with its name for operators, its template and the model of what it is about.

    `say` returns what a message about a row says, None where it is not needed any more; it is called in the payer's
    language. `delivered` is called in the transaction that records that a message was taken; in live mode only.
    """

    label: Any
    template: str
    about: type[Model]
    say: Callable[[Any, PayerMessage], Any]
    delivered: Callable[[PayerMessage], None] = lambda _: None

    def read(self, message: PayerMessage, row: Any = None) -> Letter | None:
        """Return what a message says about its row, or about another one; None where it is not needed any more."""
        owner = message.merchant_id
        rows: Any = Checkout.objects.whole(owner) if self.about is Checkout else self.about._default_manager
        row = row or rows.select_related(*RELATED[self.about]).get(merchant_id=owner, id=message.about_id)
        with override(message.locale):
            content = self.say(row, message)
        return letter_of(self.template, content, message) if content else None


KINDS = {
    PAYMENT: Kind(_("Receipt"), PAYMENT, Charge, payment_receipt),
    AGAIN: Kind(_("Receipt, sent again"), PAYMENT, Charge, payment_receipt),
    REFUND: Kind(_("Receipt of a refund"), REFUND, Refund, refund_receipt),
    INVOICE: Kind(_("Invoice"), INVOICE, Checkout, invoice, invoice_delivered),
    REMINDER: Kind(_("Reminder of an invoice"), REMINDER, Checkout, invoice),
    FAILURE: Kind(_("Declined payment"), FAILURE, Checkout, failure),
}


def label_of(message: PayerMessage) -> str:
    """Return the name of a message's kind for operators."""
    return str(KINDS[message.kind].label) if message.kind in KINDS else message.kind
