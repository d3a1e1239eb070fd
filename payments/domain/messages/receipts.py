"""Receipts, which a merchant may choose: of a payment when it is captured, and of a refund when it is made."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import IntegrityError
from django.db.models import OuterRef
from django.utils.dateformat import format as format_date
from django.utils.translation import gettext as _

from customers.models import email_of_customer
from payments import sourcetypes
from payments.db.writes import Write, execute_writes_in_savepoint
from payments.domain.catalogue.event_types import CHARGE_CAPTURED, CHARGE_SUCCEEDED, REFUND_UPDATED
from payments.domain.messages.content import Content, Item, items_of
from payments.domain.messages.outbox import is_ready, message_of
from payments.domain.risk.blocks import emails_of_owner
from payments.domain.shared.caller import Caller, merchant_of
from payments.ids import short_reference
from payments.models import Attempt, Charge, PayerMessage, Refund, Source
from payments.money import shown_amount

PAYMENT, REFUND = "receipt", "refund_receipt"
# The receipt of a payment that an operator sends once more.
AGAIN = "receipt_again"
CAPTURES = (CHARGE_SUCCEEDED, CHARGE_CAPTURED)
# The sequence of the receipt that a payer asks for; those of changes have the version of the charge.
ASKED_FOR = 0


def receipt_of(caller: Caller, event_type: str, row: Any) -> list[Write]:
    """Return the write of the receipt that goes with an event about `row`, as it is then; nothing where none does.

    None is written where the merchant has not chosen it, the payer has no address, or live mode has no mail server.
    """
    match row:
        case Charge(captured=True) if event_type in CAPTURES:
            kind, source = PAYMENT, row.source
        case Refund(status=Refund.Status.SUCCEEDED) if event_type == REFUND_UPDATED:
            kind, source = REFUND, row.charge.source
        case _:
            return []
    if not (sends_receipts(caller) and (source.customer_id or _owner_email(source))):
        return []
    if not is_ready(caller.livemode, PayerMessage.Channel.EMAIL):
        return []
    locale = locale_of(row if kind == PAYMENT else row.charge)
    return [message_of(caller.merchant_id, caller.livemode, kind, row.id, row.version, locale=locale)]


def is_asked_for(charge: Charge) -> bool:
    """Return whether the payer of a captured charge has asked for a receipt."""
    rows = PayerMessage.objects.filter(merchant_id=charge.merchant_id, about_id=charge.id, kind=PAYMENT)
    return rows.filter(sequence=ASKED_FOR).exists()


def send_as_asked(charge: Charge, recipient: str, locale: str) -> None:
    """Send the receipt of a captured charge to an address that its payer wrote: the first one alone."""
    asked = message_of(
        charge.merchant_id, charge.livemode, PAYMENT, charge.id, ASKED_FOR, locale=locale, recipient=recipient
    )
    with suppress(IntegrityError):
        execute_writes_in_savepoint(asked)


def payment_receipt(charge: Charge, message: PayerMessage) -> Content:
    """Return what the receipt of a captured charge says."""
    amount, reference = shown_amount(charge.amount_captured, charge.currency), short_reference(charge.id)
    is_by_shop = charge.initiator == Charge.Initiator.MERCHANT
    day = _day(_paid_at(charge) if message.kind == AGAIN else message.created_at)
    return Content(
        charge.merchant,
        message.recipient or email_of(charge.source),
        amount,
        items=_items(charge) or [Item(charge.description, "", amount)],
        facts=[
            (_("Paid with"), way_of(charge.source)),
            *([(_("Charged by"), _("the shop, with the card that you keep there"))] if is_by_shop else []),
            (_("On your statement"), charge.statement_descriptor),
            (_("Reference"), reference),
        ],
        values={"day": day, "reference": reference, "is_paid": charge.status == Charge.Status.SUCCEEDED},
    )


def refund_receipt(refund: Refund, message: PayerMessage) -> Content:
    """Return what the receipt of a refund says."""
    charge = refund.charge
    return Content(
        charge.merchant,
        email_of(charge.source),
        shown_amount(refund.amount, refund.currency),
        facts=[
            (_("Order"), charge.description),
            (_("You had paid"), shown_amount(charge.amount_captured, charge.currency)),
            (_("Goes back to"), way_of(charge.source)),
            (_("Reference"), short_reference(charge.id)),
        ],
        values={"day": _day(message.created_at)},
    )


def _order_of(charge: Charge) -> Mapping[str, Any]:
    """Return the order of the checkout that a charge pays, empty where it pays none."""
    return charge.checkout.order if charge.checkout else {}


def locale_of(charge: Charge) -> str:
    """Return the language of the messages about a charge."""
    return _order_of(charge).get("locale") or "en"


def _paid_at(charge: Charge) -> datetime:
    """Return when a charge was captured: by an operation of its own, or when it was made."""
    captures = Attempt.objects.filter(charge=charge, kind=Attempt.Kind.CAPTURE).order_by("-created_at")
    return captures.values_list("created_at", flat=True).first() or charge.created_at


def _items(charge: Charge) -> list[Item]:
    """Return what was ordered; nothing where only a part of it was captured."""
    is_all = charge.amount_captured == charge.amount
    return items_of(_order_of(charge), charge.currency) if is_all else []


def email_of(source: Source) -> str:
    """Return the e-mail address of a source's payer: its owner's, or else its customer's; "" without one."""
    if (email := _owner_email(source)) or source.customer_id is None:
        return email
    rows = Source.objects.filter(id=source.id, merchant_id=source.merchant_id)
    [email] = rows.values_list(email_of_customer(OuterRef("customer_id"), OuterRef("merchant_id"))).get()
    return email or ""


def _owner_email(source: Source) -> str:
    return next(filter(None, emails_of_owner(source)), "")


def way_of(source: Source) -> str:
    """Return a way to pay in words, with the last characters of the card's or account's number."""
    card, account, label = getattr(source, "card", None), source.bank_account, sourcetypes.shown(source.type).label
    if card:
        return _("Card ending in {last4}").format(last4=card.last4)
    return f"{label} ••{account['account_number'][-4:]}" if account else label


def _day(moment: datetime) -> str:
    return format_date(moment.astimezone(ZoneInfo(settings.DISPLAY_TIME_ZONE)), "j F Y")


def sends_receipts(caller: Caller) -> bool:
    """Return whether the caller's merchant has chosen that payers get messages about their payments."""
    return merchant_of(caller).send_receipts
