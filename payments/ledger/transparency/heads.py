"""Signed heads of the log, one every hour: an auditor who keeps one sees by the next whether anything was taken out."""

import base64
from datetime import datetime, timedelta

from django.db import transaction

from payments import clock
from payments.ledger.transparency.append import append, is_behind
from payments.ledger.transparency.tree import root_of
from payments.models import LogHead, LogProgress
from payments.vault.signatures import origin, public_keys, signed_note

MOST_LEAVES = 1 << 56
SIGNED_EVERY = timedelta(hours=1)
# As many heads as are signed in two days.
TWO_DAYS = 48


def sign_if_due() -> bool:
    """Sign a head unless one was signed in the last hour, the log is empty, or there is no key."""
    newest, now = newest_head(), clock.now()
    # A host whose clock was ahead does not keep others from signing.
    if not public_keys() or (newest and now - SIGNED_EVERY < newest.signed_at <= now):
        return False
    append(most_batches=None)
    return sign(newest) is not None


@transaction.atomic
def sign(newest: LogHead | None = None) -> LogHead | None:
    """Sign a head now, after `newest`; return None where the log is empty, behind, or held by another worker."""
    progress = LogProgress.objects.select_for_update(skip_locked=True).first()
    if progress is None or not progress.size or newest != newest_head() or is_behind(progress):
        return None
    now = clock.now()
    root = base64.b64encode(root_of(progress.size)).decode()
    note = signed_note(f"{origin()}\n{progress.size}\n{root}\n{clock.iso(now)}\n")
    return LogHead.objects.create(size=progress.size, signed_at=now, note=note)


def newest_head() -> LogHead | None:
    return LogHead.objects.order_by("id").last()


def size_and_head() -> tuple[int, LogHead | None]:
    """Return how many leaves there are, and the newest head."""
    progress = LogProgress.objects.first()
    return progress.size if progress else 0, newest_head()


def head_of(size: int) -> LogHead | None:
    """Return the first head of this size; sizes beyond any number that there can be have none."""
    return None if size > MOST_LEAVES else LogHead.objects.filter(size=size).order_by("id").first()


def first_head_since(moment: datetime) -> LogHead | None:
    """Return the first head that was signed from a moment of the last two days on."""
    newest = list(LogHead.objects.order_by("-id")[:TWO_DAYS])
    return next((head for head in reversed(newest) if moment <= head.signed_at <= clock.now()), None)
