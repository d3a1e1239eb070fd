"""Messages are sent by a worker: claimed, sent without a transaction, then recorded.

A process that dies in between leaves a lease that runs out. So a message may come twice, under one Message-ID or
Idempotency-Key, and is never lost. Each merchant with due messages gets SHARE of them in a turn, the one with the
fewest first: the many messages of one delay no other's.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from random import SystemRandom
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils.translation import override

from payments import clock
from payments.domain.due_rows import DueRows
from payments.domain.payer_messages.content import Content, Letter, render
from payments.domain.payer_messages.kinds import KINDS
from payments.domain.payer_messages.mail import REFUSES_US, MailServer
from payments.domain.payer_messages.results import NotTaken, Refused
from payments.domain.payer_messages.sms import send_sms
from payments.models import PayerMessage
from payments.models.payer_message import WHY_MAX_LENGTH
from payments.webhooks.retry_schedule import next_try_at

logger = logging.getLogger("kaha.payer_messages")

SHARE = 20
# Longer than a claimed share takes: a sweep that reaches SWEEP_SECONDS leaves the rest to the next one.
DUE = DueRows(lease=timedelta(minutes=5))
SWEEP_SECONDS = 20.0
Channel, State = PayerMessage.Channel, PayerMessage.State
# Sends one message. Raises Refused and NotTaken.
Send = Callable[[PayerMessage, Content, Letter], None]


def send_mails() -> int:
    """Send due mails; without a mail server only keep those of test mode. Return how many were dealt with."""
    with MailServer() as server:
        return _send_due(Channel.EMAIL, server.send, is_ready=bool(settings.EMAIL_HOST))


def send_texts() -> int:
    """Send due SMS; without a service only keep those of test mode. Return how many were dealt with."""
    return _send_due(Channel.SMS, send_sms, is_ready=bool(settings.SMS_URL))


def _send_due(channel: str, send: Send, is_ready: bool) -> int:
    ends, count = time.monotonic() + SWEEP_SECONDS, 0
    waiting = PayerMessage.objects.filter(channel=channel, **({} if is_ready else {"livemode": False}))
    is_over = False
    while not is_over:
        is_over = True
        for merchant_id in _merchants_due(waiting):
            claimed = DUE.claim(waiting.filter(merchant_id=merchant_id), limit=SHARE)
            is_over = is_over and not claimed
            while claimed:
                count += 1
                if not _advance(claimed.pop(0), send) or time.monotonic() > ends:
                    _leave(claimed)
                    return count
    return count


def _merchants_due(waiting: QuerySet[PayerMessage]) -> list[UUID]:
    """Return the merchants that have messages due, the one with the fewest first."""
    due = waiting.filter(due_at__lte=clock.now()).order_by().values_list("merchant_id")
    return [merchant_id for merchant_id, _ in due.annotate(count=Count("id")).order_by("count")]


def _leave(claimed: list[PayerMessage]) -> None:
    """Leave messages that were not tried to the next sweep."""
    if claimed:
        DUE.put_off(*claimed, until=clock.now())


def _advance(message: PayerMessage, send: Send) -> bool:
    """Send a claimed message and record the result; return whether the server takes more."""
    try:
        with override(message.locale):
            content = KINDS[message.kind].read(message)
        if content and content.to:
            _send(message, content, send)
        else:
            _end(message, State.DROPPED, why="There is no address." if content else "It is not needed any more.")
    except NotTaken as fault:
        if fault.is_final and _others_are_taken(message):
            _end(message, State.GIVEN_UP, why=str(fault))
        else:
            _try_later(message, f"{REFUSES_US}, or all recipients: {fault}" if fault.is_final else str(fault))
        return fault.is_of_message
    except Exception as error:
        logger.exception("message to a payer could not be sent", extra={"payer_message": message.id.hex})
        _try_later(message, type(error).__name__)
    return True


def _others_are_taken(message: PayerMessage) -> bool:
    """Return whether the server took a message since this one was made, and so refuses its recipient alone."""
    later = PayerMessage.objects.filter(id__gt=message.id, channel=message.channel, state=State.SENT)
    return later.exists()


def _send(message: PayerMessage, content: Content, send: Send) -> None:
    """Send `message`, or keep that of test mode, and record what it says. Raise NotTaken."""
    letter = _letter(message, content)
    said = {"recipient": content.to, "subject": letter.subject, "text": letter.text}
    try:
        if message.livemode:
            send(message, content, letter)
    except Refused as refusal:
        _end(message, State.GIVEN_UP, why=str(refusal), **said)
    else:
        _record_end(message, State.SENT if message.livemode else State.KEPT, said)


def _record_end(message: PayerMessage, state: str, said: dict[str, str]) -> None:
    """Record that a message was sent or kept; a fault in what its kind does then must not send it again."""
    delivered = KINDS[message.kind].delivered if state == State.SENT else None
    try:
        with transaction.atomic():
            if _end(message, state, **said) and delivered:
                delivered(message)
    except Exception:
        logger.exception("object could not be marked delivered", extra={"payer_message": message.id.hex})
        _end(message, state, **said)


def _letter(message: PayerMessage, content: Content) -> Letter:
    return render(content, message.locale) if message.channel == Channel.EMAIL else Letter("", content.sms, "")


def _end(message: PayerMessage, state: str, **values: str) -> bool:
    """End a claimed message; return whether it was still held."""
    return bool(DUE.end(message, state=state, ended_at=clock.now(), **values))


def _try_later(message: PayerMessage, why: str) -> None:
    now, tries, why = clock.now(), message.tries + 1, why[:WHY_MAX_LENGTH]
    until = next_try_at(message.created_at, tries, now, SystemRandom().random())
    if until:
        DUE.put_off(message, until=until, tries=tries, why=why)
    else:
        _end(message, State.GIVEN_UP, why=why)
