"""Messages are sent by a worker: claimed, sent without a transaction, then recorded.

A process that dies in between leaves a lease that runs out. So a message may come twice, under one Message-ID or
Idempotency-Key, and is never lost. Those to payers and those to operators wait in tables of their own, because the
first are of a merchant and written with a charge, and the others of nobody; all else is the same.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import SystemRandom
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.db import transaction

from payments import clock
from payments.domain.due_rows import DueRows
from payments.domain.messages.content import words_of
from payments.domain.messages.letters import Letter, NotTaken, Refused, Send
from payments.domain.messages.mail import REFUSES_US, mail_server
from payments.models import OutboxMessage
from payments.models.outbox_message import WHY_MAX_LENGTH
from payments.webhooks.retry_schedule import next_try_at
from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.results import Answer, Failure

logger = logging.getLogger("kaha.messages")

# Longer than one try may take, and shorter than a lease: a channel that reaches it leaves the rest to the next sweep.
SWEEP_SECONDS = 20.0
# From here on a status says that the service does not work (RFC 9110, 15.6).
SERVER_ERROR = 500
State = OutboxMessage.State
EMAIL, SMS, CHAT = OutboxMessage.Channel
# The rows of one message, of one claim.
Batch = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Outbox:
    """A table of messages and how its rows are claimed.

    `claimed` yields what it claims of a channel, some messages at a time, until nothing is due. `letter` returns the
    message of a batch; None where it is not needed any more. `are_others_taken` says whether the server took
    one that was made after it, and so refuses its recipient alone.
    """

    due: DueRows
    claimed: Callable[[str], Iterator[list[Batch]]]
    letter: Callable[[Batch], Letter | None]
    are_others_taken: Callable[[Batch], bool] = lambda _: False

    def send_due(self, *channels: str) -> int:
        """Send what is due by `channels`; return how many messages were dealt with."""
        with mail_server() as send_mail:
            sends: dict[str, Send] = {EMAIL: send_mail, SMS: _send_sms, CHAT: _send_chat}
            return sum(_send_due(self, channel, sends[channel]) for channel in channels)


def send_at_once(to: str, subject: str, template: str, **values: object) -> bool:
    """Send a mail now and return whether it was taken: its link is a secret, which no row of an outbox may keep."""
    try:
        with mail_server() as send:
            send(Letter(to, words_of(template, values), subject))
    except (NotTaken, Refused, OSError, SMTPException):
        return False
    return True


def _send_due(outbox: Outbox, channel: str, send: Send) -> int:
    ends, count = time.monotonic() + SWEEP_SECONDS, 0
    for batches in outbox.claimed(channel):
        while batches:
            count += 1
            if not _advance(outbox, batches.pop(0), send) or time.monotonic() > ends:
                for batch in batches:
                    # Nothing was tried, so the next sweep does it.
                    outbox.due.put_off(*batch, until=clock.now())
                return count
    return count


def _advance(outbox: Outbox, batch: Batch, send: Send) -> bool:
    """Send a claimed message and record the result; return whether the server takes more."""
    try:
        letter = outbox.letter(batch)
        if letter and letter.to:
            _send(outbox, batch, letter, send)
        else:
            _end(outbox, batch, State.DROPPED, why="There is no address." if letter else "It is not needed any more.")
    except NotTaken as fault:
        if fault.is_final and outbox.are_others_taken(batch):
            _end(outbox, batch, State.GIVEN_UP, why=str(fault))
        else:
            _try_later(outbox, batch, f"{REFUSES_US}, or all recipients: {fault}" if fault.is_final else str(fault))
        return fault.is_of_message
    except Exception as error:
        # One that cannot be made keeps no other back.
        logger.exception("message could not be sent", extra={"messages": [row.pk.hex for row in batch]})
        _try_later(outbox, batch, type(error).__name__)
    return True


def _send(outbox: Outbox, batch: Batch, letter: Letter, send: Send) -> None:
    """Send a message, or keep that of test mode, and record it. Raise NotTaken."""
    try:
        if letter.livemode:
            send(letter)
    except Refused as refusal:
        _end(outbox, batch, State.GIVEN_UP, why=str(refusal), **letter.kept)
        return
    state = State.SENT if letter.livemode else State.KEPT
    try:
        with transaction.atomic():
            if _end(outbox, batch, state, **letter.kept) and letter.livemode:
                letter.after()
    except Exception:
        # A fault in what follows must not send it again.
        logger.exception("what follows was not done", extra={"messages": [row.pk.hex for row in batch]})
        _end(outbox, batch, state, **letter.kept)


def _end(outbox: Outbox, batch: Batch, state: str, **values: Any) -> bool:
    """End a claimed message; return whether it was still held."""
    return bool(outbox.due.end(*batch, state=state, ended_at=clock.now(), **values))


def _try_later(outbox: Outbox, batch: Batch, why: str) -> None:
    """Let a message be tried again on the schedule of webhooks, for three days."""
    for row in batch:
        now, tries, why = clock.now(), row.tries + 1, why[:WHY_MAX_LENGTH]
        until = next_try_at(row.created_at, tries, now, SystemRandom().random())
        if until:
            outbox.due.put_off(row, until=until, tries=tries, why=why)
        else:
            _end(outbox, [row], State.GIVEN_UP, why=why)


def _send_sms(letter: Letter) -> None:
    """Have a service send an SMS. One that did not answer may have sent it, and knows the next try by the key."""
    _deliver(settings.SMS_URL, {"to": letter.to, "text": letter.text}, {"Idempotency-Key": letter.key})


def _send_chat(letter: Letter) -> None:
    """Write into the chat room. Raise NotTaken."""
    _deliver(settings.CHAT_WEBHOOK_URL, {"text": letter.text}, {})


def _deliver(url: str, body: dict[str, str], headers: dict[str, str]) -> None:
    result = asyncio.run(_post(url, json.dumps(body).encode(), headers))
    if isinstance(result, Failure):
        raise NotTaken(f"The service did not answer: {result.kind}.")
    if not result.is_proper:
        is_of_message = result.status < SERVER_ERROR
        raise NotTaken(f"The service answered {result.status}.", is_of_message)


async def _post(url: str, body: bytes, headers: dict[str, str]) -> Answer | Failure:
    async with Transport() as transport:
        # As in live mode: https only, and no address of a private network.
        return await transport.send(url, body, headers, livemode=not settings.NOTIFY_ALLOW_LOOPBACK)
