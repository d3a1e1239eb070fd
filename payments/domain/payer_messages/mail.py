"""Mails to payers, in the name of the merchant and from the address of the installation."""

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


class MailServer:
    """The mail server, on one connection that is opened by the first mail."""

    def __init__(self) -> None:
        self._connection: Any = None

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
        except SMTPRecipientsRefused as refused:
            raise _refusal(max(code for code, _ in refused.recipients.values())) from None
        except SMTPDataError as refused:
            raise _refusal(refused.smtp_code) from None
        except ValueError:
            raise Refused("The address is none.") from None
        except (OSError, SMTPException) as error:
            code = f" {error.smtp_code}" if isinstance(error, SMTPResponseException) else ""
            raise NotTaken(f"{type(error).__name__}{code}") from None


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


def _refusal(code: int) -> Exception:
    why = f"The mail server answered {code}."
    return Refused(why) if code >= FINAL else NotTaken(why, is_of_message=True)
