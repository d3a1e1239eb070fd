"""Mails to payers, in the name of the merchant and from the address of the installation."""

import re
from email.utils import formataddr, parseaddr
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPResponseException
from types import TracebackType
from typing import Any, Self

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection

from payments.domain.payer_messages.content import Content, Letter, one_line
from payments.domain.payer_messages.results import NotTaken, Refused
from payments.models import PayerMessage

# From here on a reply of SMTP is final (RFC 5321, 4.2.1).
FINAL = 500
# What the reply is about (RFC 3463): the recipient's address or mailbox, or what the server allows us.
STATUS = re.compile(rb"5\.([0-9])\.[0-9]{1,3}\b")
RECIPIENTS, POLICY = (b"1", b"2"), b"7"
# A server that refuses so many in a row is left alone until the next sweep.
REFUSED_MAX = 5
REFUSES_US = "The mail server refuses us"


class MailServer:
    """The mail server, on one connection that is opened by the first mail."""

    def __init__(self) -> None:
        self._connection: Any = None
        self._refused = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection:
            self._connection.close()

    def send(self, message: PayerMessage, content: Content, letter: Letter) -> None:
        """Send a mail. Raise Refused and NotTaken."""
        try:
            if self._connection is None:
                self._connection = get_connection()
                self._connection.open()
            self._connection.send_messages([mail_of(message, content, letter)])
        except ValueError:
            raise Refused("The address is none.") from None
        except (OSError, SMTPException) as error:
            refusal = refusal_of(error)
            self._refused += 1
            if isinstance(refusal, NotTaken) and self._refused >= REFUSED_MAX:
                refusal.is_of_message = False
            raise refusal from None
        self._refused = 0


def mail_of(message: PayerMessage, content: Content, letter: Letter) -> EmailMultiAlternatives:
    """Return the mail; a payer's answer goes to the merchant's support address, if it has one."""
    address = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    mail = EmailMultiAlternatives(
        letter.subject,
        letter.text,
        formataddr((one_line(content.merchant.title), address)),
        [content.to],
        reply_to=[content.merchant.support_email] if content.merchant.support_email else None,
        headers={"Message-ID": f"<{message.id.hex}@{address.partition('@')[2]}>", "Auto-Submitted": "auto-generated"},
    )
    mail.attach_alternative(letter.html, "text/html")
    return mail


def refusal_of(error: OSError | SMTPException) -> Refused | NotTaken:
    """Return what an error of a mail server means for the mail.

    What is about the recipient (5.1.x, 5.2.x) is final. What is about us (5.7.x, or any refusal before a recipient was
    named) is not: the address of the sender, the account or the relay may be mended.
    """
    match error:
        case SMTPRecipientsRefused(recipients=recipients):
            code, text = max(recipients.values())
        case SMTPDataError(smtp_code=code, smtp_error=text):
            pass
        case SMTPResponseException(smtp_code=code):
            return NotTaken(f"{REFUSES_US}: {type(error).__name__} {code}" if code >= FINAL else _named(error, code))
        case _:
            return NotTaken(_named(error))
    found = STATUS.search(text if isinstance(text, bytes) else text.encode())
    why = f"The mail server answered {code}{f' {found[0].decode()}' if found else ''}."
    if code < FINAL:
        return NotTaken(why, is_of_message=True)
    if found and found[1] in RECIPIENTS:
        return Refused(why)
    if found and found[1] == POLICY:
        return NotTaken(f"{REFUSES_US}: {why}", is_of_message=True)
    return NotTaken(why, is_of_message=True, is_final=True)


def _named(error: Exception, code: int | str = "") -> str:
    return f"{type(error).__name__} {code}".rstrip()
