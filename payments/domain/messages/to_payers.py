"""The outbox of messages to payers: each is written in the transaction of what causes it, and once.

Each merchant with due messages gets SHARE of them in a turn, the one with the fewest first: the many messages of one
delay no other's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.db.models import Count, QuerySet

from payments import clock
from payments.domain.due_rows import DueRows
from payments.domain.messages.delivery import Batch, Outbox
from payments.domain.messages.kinds import KINDS
from payments.domain.messages.letters import Letter
from payments.domain.messages.outbox import is_ready
from payments.models import PayerMessage

SHARE = 20
Channel = PayerMessage.Channel


def send_due() -> int:
    """Send the messages to payers that are due; return how many were dealt with."""
    return OUTBOX.send_due(Channel.SMS, Channel.EMAIL)


def _claimed(channel: str) -> Iterator[list[Batch]]:
    of_mode = {} if is_ready(True, channel) else {"livemode": False}
    waiting = PayerMessage.objects.filter(channel=channel, **of_mode)
    is_over = False
    while not is_over:
        is_over = True
        for merchant_id in _merchants_due(waiting):
            claimed = OUTBOX.due.claim(waiting.filter(merchant_id=merchant_id), limit=SHARE)
            is_over = is_over and not claimed
            yield [[message] for message in claimed]


def _merchants_due(waiting: QuerySet[PayerMessage]) -> list[UUID]:
    """Return the merchants that have messages due, the one with the fewest first."""
    due = waiting.filter(due_at__lte=clock.now()).order_by().values_list("merchant_id")
    return [merchant_id for merchant_id, _ in due.annotate(count=Count("id")).order_by("count")]


def _letter(batch: Sequence[PayerMessage]) -> Letter | None:
    [message] = batch
    kind = KINDS[message.kind]
    letter = kind.read(message)
    if not letter:
        return None
    kept = {"recipient": letter.to, "subject": letter.subject, "text": letter.text}
    after = partial(kind.delivered, message)
    return replace(letter, key=message.id.hex, livemode=message.livemode, kept=kept, after=after)


def _are_others_taken(batch: Sequence[PayerMessage]) -> bool:
    [message] = batch
    later = PayerMessage.objects.filter(id__gt=message.id, channel=message.channel, state=PayerMessage.State.SENT)
    return later.exists()


# A lease is longer than a claimed share takes.
OUTBOX = Outbox(DueRows(lease=timedelta(minutes=5)), _claimed, _letter, _are_others_taken)
