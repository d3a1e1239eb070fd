"""What operators and commands do, told in the transaction in which they do it: both are on record, or neither."""

import os
import pwd
import socket
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from django.db import transaction
from django.db.models import Model

from payments import context
from payments.context import Actor
from payments.models import AuditEntry, AuditHead
from payments.models.audit import NAME_MAX_LENGTH, type_of
from payments.redaction import redact


class Action(StrEnum):
    """What was done."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    VIEWED = "viewed"
    SEARCHED = "searched"
    EXPORTED = "exported"
    SIGNED_IN = "signed_in"
    SIGNED_OUT = "signed_out"
    SIGN_IN_FAILED = "sign_in_failed"
    LOCKED_OUT = "locked_out"
    ROLLED = "rolled"
    REVOKED = "revoked"
    LOOKED_UP = "looked_up"
    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    OVERTAKEN = "overtaken"
    DECLINED = "declined"
    EXPIRED = "expired"
    DONE = "done"
    REFUSED = "refused"
    CLOSED = "closed"
    REOPENED = "reopened"
    SENT_AGAIN = "sent_again"
    BLOCKED = "blocked"
    LIFTED = "lifted"
    TESTED = "tested"


def record(
    action: Action, about: Model | None = None, *, fields: Sequence[str] = (), detail: str = "", reason: str = ""
) -> None:
    """Adds an entry: `action` was done to `about` just now, by whoever acts in this context.

    `fields` are the names of what was changed. Where no reason is given it is that of the context. Call it last in a
    transaction, for others who act wait for its end.
    """
    record_all(action, [about], fields=fields, detail=detail, reason=reason)


@transaction.atomic(savepoint=False)
def record_all(
    action: Action,
    about: Iterable[Model | None],
    *,
    fields: Sequence[str] = (),
    detail: str = "",
    reason: str = "",
) -> None:
    """Adds an entry for each row of `about`, as `record` does."""
    actor, head = _actor(), _hold_head()
    names = [redact(name)[:NAME_MAX_LENGTH] for name in fields]
    said = {"fields": names, "detail": redact(detail), "reason": redact(reason or context.reason.get())}
    entries = []
    for row in about:
        entry = AuditEntry(
            action=action,
            request_id=context.request_id.get(),
            # The clock may be told a made-up time; this log is not.
            created_at=datetime.now(UTC),
            **_who(actor),
            **_what(row),
            **said,
        )
        _append(entry, head)
        entries.append(entry)
    AuditEntry.objects.bulk_create(entries)


def _hold_head() -> AuditHead:
    """The end of the chain, which nobody else moves before this transaction ends."""
    return AuditHead.objects.select_for_update(no_key=True).get_or_create(id=AuditHead.ONLY)[0]


def _append(entry: AuditEntry, head: AuditHead) -> None:
    entry.number, entry.previous_hash = head.number + 1, head.hash
    entry.hash = entry.sealed()
    head.number, head.hash = entry.number, entry.hash


def _who(actor: Actor) -> dict[str, object]:
    return {"actor": actor.name, "operator_id": actor.operator_id, "origin": actor.origin[:NAME_MAX_LENGTH]}


def _what(row: Model | None) -> dict[str, str]:
    if row is None:
        return {}
    return {
        "object_type": type_of(row),
        "object_id": str(row.pk),
        "object_name": redact(str(row))[:NAME_MAX_LENGTH],
    }


def _actor() -> Actor:
    tell = context.actor.get()
    return tell() if tell else Actor(_account(), socket.gethostname())


def _account() -> str:
    """The account that runs this process: by number where it has no name, as in many containers."""
    uid = os.getuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
