"""The outbox of notifications: to operators and merchants' people by e-mail, and to the chat room."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain, groupby

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.due_rows import DueRows
from payments.domain.messages.delivery import Batch, Outbox
from payments.domain.messages.letters import Letter
from payments.domain.messages.outbox import is_ready
from payments.inbox.log_heads import LOG_HEADS
from payments.inbox.statements import STATEMENTS, files_of
from payments.models import Notification

# Of one operator or of the chat room: so many single messages an hour, then one for all others.
SINGLES_AN_HOUR = 10
HOUR = timedelta(hours=1)
LISTED_IN_BUNDLE = 10
CLAIMED_MAX = 200
CHAT_ROOM = "the chat room"
Channel = Notification.Channel


def send_due() -> int:
    """Send the notifications that are due; return how many messages were dealt with."""
    return OUTBOX.send_due(Channel.CHAT, Channel.EMAIL)


def _claimed(channel: str) -> Iterator[list[Batch]]:
    if is_ready(True, channel):
        waiting = Notification.objects.filter(operator__isnull=channel == Channel.CHAT).select_related("operator")
        claimed = sorted(OUTBOX.due.claim(waiting, limit=CLAIMED_MAX), key=_place)
        of_each = groupby(claimed, key=lambda row: row.operator_id)
        yield [batch for _, rows in of_each for batch in _batches(list(rows))]


def _place(row: Notification) -> tuple[int, bool, datetime]:
    """Return where a row comes: by operator, heads and mails with files first, so that no bundle leaves them out."""
    return row.operator_id or 0, not row.key.startswith((LOG_HEADS, STATEMENTS)), row.created_at


def _batches(rows: list[Notification]) -> Iterator[Batch]:
    """Yield the rows of each message: one each up to the limit of the hour, and then all others together.

    A signed head goes alone and counts for nothing: in a bundle its note could not be read.
    """
    yield from ([row] for row in rows if row.key.startswith(LOG_HEADS))
    rows = [row for row in rows if not row.key.startswith(LOG_HEADS)]
    if not rows:
        return
    sent = Notification.objects.filter(operator=rows[0].operator, state=Notification.State.SENT)
    lately = sent.filter(ended_at__gt=clock.now() - HOUR).exclude(key__startswith=LOG_HEADS)
    left = max(0, SINGLES_AN_HOUR - lately.filter(bundled=False).count())
    yield from ([row] for row in rows[:left])
    if others := rows[left:]:
        if lately.filter(bundled=True).exists():
            OUTBOX.due.put_off(*others, until=clock.now() + HOUR / 4)
        else:
            yield others


def _letter(batch: Sequence[Notification]) -> Letter | None:
    listed, operator = batch[:LISTED_IN_BUNDLE], batch[0].operator
    texts, more = [row.text for row in listed], len(batch) - len(listed)
    text, kept = "\n\n".join([*texts, f"and {more} more"] if more else texts), {"bundled": len(batch) > 1}
    if operator is None:
        return Letter(CHAT_ROOM, text, kept=kept)
    if not operator.is_active:
        return None
    subject, files = f"kaha: {text.partition(chr(10))[0]}", list(chain.from_iterable(map(files_of, listed)))

    def record() -> None:
        for name, *_ in files:
            audit_log.record(Action.EXPORTED, operator, detail=f"{name}, by e-mail")

    return Letter(operator.email, text, subject, files=files, kept=kept, after=record)


OUTBOX = Outbox(DueRows(lease=timedelta(minutes=5), same=()), _claimed, _letter)
