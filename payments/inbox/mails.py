"""Notifications are sent by the worker: claimed by a guarded update, sent without a transaction, then marked.

A process that dies in between leaves a lease that runs out, so a message may come twice and is never lost.
"""

import asyncio
import json
import logging
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain, groupby
from random import SystemRandom
from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.due_rows import DueRows
from payments.domain.payer_messages.mail import refusal_of
from payments.domain.payer_messages.results import Refused
from payments.domain.statements.statement import DoesNotAddUp
from payments.inbox.log_heads import LOG_HEADS
from payments.inbox.statements import STATEMENTS, files_of
from payments.models import Notification
from payments.webhooks.retry_schedule import next_try_at
from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.results import Answer

logger = logging.getLogger("kaha.notifications")

# Of one operator or of the chat room: so many single messages an hour, then one for all others.
SINGLES_AN_HOUR = 10
HOUR = timedelta(hours=1)
LISTED_IN_BUNDLE = 10
CLAIMED_MAX = 200
DUE = DueRows(lease=timedelta(minutes=5), same=())
# Longer than one try may take; a sweep that reaches it leaves the rest to the next one.
SWEEP_SECONDS = 20.0
# A server that fails so often in a sweep is left alone until the next one.
FAILURES_MAX = 3


def send_mails() -> int:
    """Send due e-mails, at most for SWEEP_SECONDS; return how many messages the mail server took."""
    return _send_due(chat=False) if settings.EMAIL_HOST else 0


def send_chat() -> int:
    """Send due messages to the chat room; return how many it took."""
    return _send_due(chat=True) if settings.CHAT_WEBHOOK_URL else 0


def _send_due(chat: bool) -> int:
    ends, sent = time.monotonic() + SWEEP_SECONDS, 0
    waiting = Notification.objects.filter(operator__isnull=chat).select_related("operator")
    claimed = sorted(DUE.claim(waiting, limit=CLAIMED_MAX), key=_place)
    failures = 0
    for _, rows in groupby(claimed, key=lambda row: row.operator_id):
        for batch in _messages(list(rows)):
            if failures >= FAILURES_MAX or time.monotonic() > ends:
                # Nothing was tried, so the next sweep does it.
                DUE.put_off(*batch, until=clock.now())
                continue
            try:
                is_taken = _send_to(batch[0].operator, _text(batch), batch[:LISTED_IN_BUNDLE])
            except Refused:
                DUE.end(*batch)
                continue
            if is_taken:
                DUE.end(*batch, sent_at=clock.now(), bundled=len(batch) > 1)
                sent += 1
            else:
                _postpone(batch)
                failures += 1
    return sent


def _place(row: Notification) -> tuple[int, bool, datetime]:
    """Return where a row comes: by operator, heads and mails with files first, so that no bundle leaves them out."""
    return row.operator_id or 0, not row.key.startswith((LOG_HEADS, STATEMENTS)), row.created_at


def _messages(rows: list[Notification]) -> Iterator[list[Notification]]:
    """Yield the rows of each message: one each up to the limit of the hour, and then all others together.

    A signed head goes alone and counts for nothing: in a bundle its note could not be read.
    """
    yield from ([row] for row in rows if row.key.startswith(LOG_HEADS))
    rows = [row for row in rows if not row.key.startswith(LOG_HEADS)]
    if not rows:
        return
    lately = Notification.objects.filter(operator=rows[0].operator, sent_at__gt=clock.now() - HOUR)
    lately = lately.exclude(key__startswith=LOG_HEADS)
    left = max(0, SINGLES_AN_HOUR - lately.filter(bundled=False).count())
    yield from ([row] for row in rows[:left])
    if others := rows[left:]:
        if lately.filter(bundled=True).exists():
            DUE.put_off(*others, until=clock.now() + HOUR / 4)
        else:
            yield others


def _text(batch: list[Notification]) -> str:
    texts = [row.text for row in batch[:LISTED_IN_BUNDLE]]
    more = len(batch) - len(texts)
    return "\n\n".join([*texts, f"and {more} more"] if more else texts)


def _send_to(operator: User | None, text: str, rows: list[Notification]) -> bool:
    """Send one message with the files of its rows; return whether it was taken.

    Raise Refused where the server says that there is no such recipient.
    """
    try:
        if operator is None:
            return asyncio.run(_post(text))
        if not (operator.is_active and operator.email):
            return True
        return _mail(operator, text, rows)
    except (OSError, SMTPException, DoesNotAddUp) as error:
        refusal = refusal_of(error) if isinstance(error, OSError | SMTPException) else None
        logger.warning("notification was not taken", extra={"error": str(refusal or type(error).__name__)})
        if isinstance(refusal, Refused):
            raise refusal from None
        return False
    except Exception:
        # A message that cannot be made, such as one to an address that is none, keeps no other back.
        logger.exception("notification could not be sent", extra={"notifications": [row.pk for row in rows]})
        return False


def _mail(operator: User, text: str, rows: list[Notification]) -> bool:
    """Send one e-mail, and record the files that went with it; return whether it was taken."""
    subject, files = f"kaha: {text.partition(chr(10))[0]}", list(chain.from_iterable(map(files_of, rows)))
    taken = bool(EmailMessage(subject, text, None, [operator.email], attachments=files).send())
    for name, *_ in files if taken else ():
        audit_log.record(Action.EXPORTED, operator, detail=f"{name}, by e-mail")
    return taken


async def _post(text: str) -> bool:
    async with Transport() as transport:
        body = json.dumps({"text": text}).encode()
        # As in live mode: https only, and no address of a private network.
        result = await transport.send(settings.CHAT_WEBHOOK_URL, body, {}, livemode=not settings.NOTIFY_ALLOW_LOOPBACK)
    taken = isinstance(result, Answer) and result.is_proper
    if not taken:
        logger.warning("chat message was not taken", extra={"error": type(result).__name__})
    return taken


def _postpone(batch: list[Notification]) -> None:
    """Let the rows be tried again on the schedule of webhooks, for three days."""
    for row in batch:
        until = next_try_at(row.created_at, row.tries + 1, clock.now(), SystemRandom().random())
        if until:
            DUE.put_off(row, until=until, tries=row.tries + 1)
        else:
            DUE.end(row, tries=row.tries + 1)
