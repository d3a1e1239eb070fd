"""Mails, from the address of the installation, and those to payers in the name of the merchant."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.utils import formataddr, parseaddr
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPResponseException

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection

from payments.domain.messages.letters import Letter, NotTaken, Refused, Send

# From here on a reply of SMTP is final (RFC 5321, 4.2.1).
FINAL = 500
# What the reply is about (RFC 3463): the recipient's address or mailbox, or what the server allows us.
STATUS = re.compile(rb"5\.([0-9])\.[0-9]{1,3}\b")
RECIPIENTS, POLICY = (b"1", b"2"), b"7"
# A server that refuses so many in a row is left alone until the next sweep.
REFUSED_MAX = 5
REFUSES_US = "The mail server refuses us"


@contextmanager
def mail_server() -> Iterator[Send]:
    """Yield what sends mails on one connection, which the first of them opens."""
    connection, refused = get_connection(), 0

    def send(letter: Letter) -> None:
        nonlocal refused
        try:
            connection.open()
            connection.send_messages([mail_of(letter)])
        except ValueError:
            raise Refused("The address is none.") from None
        except (OSError, SMTPException) as error:
            refusal = refusal_of(error)
            refused += 1
            if isinstance(refusal, NotTaken) and refused >= REFUSED_MAX:
                refusal.is_of_message = False
            raise refusal from None
        refused = 0

    with closing(connection):
        yield send


def mail_of(letter: Letter) -> EmailMultiAlternatives:
    """Return the mail; a payer's answer goes to the merchant's support address, if it has one."""
    address = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    headers = {"Auto-Submitted": "auto-generated"}
    if letter.key:
        headers["Message-ID"] = f"<{letter.key}@{address.partition('@')[2]}>"
    mail = EmailMultiAlternatives(
        letter.subject,
        letter.text,
        formataddr((letter.sender, address)) if letter.sender else None,
        [letter.to],
        reply_to=[letter.reply_to] if letter.reply_to else None,
        headers=headers,
        attachments=list(letter.files),
    )
    if letter.html:
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
