"""Signed heads of the log, one every hour: an auditor who keeps one sees by the next whether anything was taken out."""

import base64
from datetime import datetime, timedelta

from django.db import transaction

from payments import clock
from payments.ledger.transparency.append import append, append_missed, is_behind
from payments.ledger.transparency.tree import root_of
from payments.models import LogHead, LogProgress
from payments.vault.signatures import origin, public_keys, signed_note

MOST_LEAVES = 1 << 56
SIGNED_EVERY = timedelta(hours=1)


def sign_if_due() -> bool:
    """Sign a head unless one was signed in the last hour, the log is empty, or there is no key."""
    newest = newest_head()
    if not public_keys() or (newest and newest.signed_at > clock.now() - SIGNED_EVERY):
        return False
    append_missed()
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


def first_head_over(number: int) -> LogHead | None:
    """Return the first head whose tree has leaf `number`, None before it is signed."""
    return LogHead.objects.filter(size__gt=number).order_by("size", "id").first()


def head_of(size: int) -> LogHead | None:
    """Return the first head of this size; sizes beyond any number that there can be have none."""
    return None if size > MOST_LEAVES else LogHead.objects.filter(size=size).order_by("id").first()


def first_head_since(moment: datetime) -> LogHead | None:
    return LogHead.objects.filter(signed_at__gte=moment).order_by("id").first()
