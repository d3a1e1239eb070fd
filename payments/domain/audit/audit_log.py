"""The audit log of operators and commands, written in the transaction of the change that it records."""

import os
import pwd
import socket
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum, StrEnum
from uuid import UUID

from django.conf import settings
from django.db.models import Model
from django.utils import translation

from payments import context
from payments.concurrency.connections import recording_alias
from payments.context import Actor
from payments.models import AuditEntry
from payments.models.operators.audit import NAME_MAX_LENGTH, type_of
from payments.sensitive_data.redaction import redact


class Action(StrEnum):
    """The action that an entry records."""

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
    CANCELLED = "cancelled"
    OVERTAKEN = "overtaken"
    EXPIRED = "expired"
    DONE = "done"
    REFUSED = "refused"
    CLOSED = "closed"
    REOPENED = "reopened"
    SENT_AGAIN = "sent_again"
    BLOCKED = "blocked"
    LIFTED = "lifted"
    TESTED = "tested"
    RESPONDED = "responded"
    ACKNOWLEDGED = "acknowledged"
    CALLED = "called"


# What a page may record that changes nothing else.
OF_READS = (Action.VIEWED, Action.SEARCHED, Action.EXPORTED)


class Everybody(Enum):
    """Stands for all merchants."""

    EVERYBODY = "everybody"


EVERYBODY = Everybody.EVERYBODY


def change(before: object, after: object) -> str:
    """Return a change in words: "PHP 100 → not set"."""
    return " → ".join("not set" if value in (None, "") else f"{value}" for value in (before, after))


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Return the differences of two rows in words, each with the name of its field."""
    names = [name for name in sorted({**before, **after}) if before.get(name) != after.get(name)]
    return [f"{name.replace('_', ' ')}: {change(before.get(name), after.get(name))}" for name in names]


def record(
    action: Action,
    about: Model | None = None,
    *,
    fields: Sequence[str] = (),
    detail: str = "",
    reason: str = "",
    notice_of: UUID | Everybody | None = None,
) -> None:
    """Add an entry: the context's actor did `action` to the row `about` just now.

    `fields` are the names of the changed columns. The default reason is the context's. It is committed with the
    transaction that it is called in, and locks nothing before.

    What leads money, data or trust elsewhere has a `notice_of` the merchant, or of EVERYBODY: its `detail` has the
    values before and after, none of them secret, and the inbox of operators shows it.
    """
    record_all(action, [about], fields=fields, detail=detail, reason=reason, notice_of=notice_of)


def record_all(
    action: Action,
    about: Iterable[Model | None],
    *,
    fields: Sequence[str] = (),
    detail: str = "",
    reason: str = "",
    notice_of: UUID | Everybody | None = None,
) -> None:
    """Add an entry for each row of `about`, as `record` does."""
    actor = _actor()
    names = [redact(name)[:NAME_MAX_LENGTH] for name in fields]
    entries = []
    for row in about:
        entry = AuditEntry(
            action=action,
            request_id=context.request_id.get(),
            # The real time, because the clock of test mode can be moved.
            created_at=datetime.now(UTC),
            actor=actor.name,
            operator_id=actor.operator_id,
            origin=actor.origin[:NAME_MAX_LENGTH],
            fields=names,
            detail=redact(detail),
            reason=redact(reason or context.reason.get()),
            is_notice=notice_of is not None,
            merchant_id=notice_of if isinstance(notice_of, UUID) else None,
            object_type=type_of(row) if row else "",
            object_id=str(row.pk) if row else "",
            object_name=_name_of(row) if row else "",
        )
        entry.hash = entry.content_hash()
        entries.append(entry)
    AuditEntry.objects.using(recording_alias() if action in OF_READS else None).bulk_create(entries)


def _name_of(row: Model) -> str:
    """Return the name of a row as it is stored: in English, whatever its reader's language."""
    with translation.override(settings.LANGUAGE_CODE):
        return redact(str(row))[:NAME_MAX_LENGTH]


def _actor() -> Actor:
    """Return the context's actor, or else the account that runs this process."""
    current_actor = context.actor.get()
    if current_actor:
        return current_actor()
    uid = os.getuid()
    try:
        account = pwd.getpwuid(uid).pw_name
    except KeyError:
        # Many containers give the account no name.
        account = str(uid)
    return Actor(account, socket.gethostname())
