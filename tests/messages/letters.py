"""Messages of charges in any state, and what a mail server got of them."""

from email.header import decode_header, make_header
from email.message import Message
from typing import Any

from payments.db.writes import execute_writes
from payments.domain.messages.outbox import message_of
from payments.models import Charge, Merchant, PayerMessage
from tests.factories import ChargeFactory

OWNER = {"billing": {"name": "Juan dela Cruz", "email": "juan@example.com"}}


def captured(merchant: Merchant, livemode: bool = True, owner: Any = OWNER, **columns: Any) -> Charge:
    """Return a captured charge, whose payer has the address of `owner`."""
    return ChargeFactory(merchant=merchant, livemode=livemode, is_captured=True, source__owner=owner, **columns)


def put_into_outbox(charge: Charge, kind: str = "receipt", **columns: Any) -> PayerMessage:
    """Write a message about `charge` to the outbox and return its row."""
    insert = message_of(charge.merchant_id, charge.livemode, kind, charge.id, charge.version, **columns)
    execute_writes(insert)
    return PayerMessage.objects.get(pk=insert.row.pk)


def standing(message: PayerMessage) -> tuple[str, int, str]:
    message.refresh_from_db()
    return message.state, message.tries, message.why


def header(mail: Message, name: str) -> str:
    """Return a header as a person reads it."""
    return str(make_header(decode_header(mail[name])))


def parts(mail: Message) -> tuple[str, str]:
    """Return the plain text and the HTML of a mail."""
    plain, html = mail.get_payload()
    return plain.get_payload(decode=True).decode(), html.get_payload(decode=True).decode()
