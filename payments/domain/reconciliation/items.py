"""Operators' decisions on differences: closed with a note, or opened again."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import check_note
from payments.models import ReconciliationItem

State = ReconciliationItem.State


class TooLate(Exception):
    """Another operator was first; nothing was changed."""


def close(item: ReconciliationItem, operator: AbstractBaseUser, note: str) -> None:
    """Close the item. Raises TooLate where it is closed already; ValidationError for an empty note or a secret."""
    _decide(item, State.OPEN, State.CLOSED, operator, note)


def reopen(item: ReconciliationItem, operator: AbstractBaseUser, note: str) -> None:
    """Open a closed item again. Raises TooLate where it is open, ValidationError as `close` does."""
    _decide(item, State.CLOSED, State.OPEN, operator, note)


@transaction.atomic
def _decide(item: ReconciliationItem, origin: str, state: str, operator: AbstractBaseUser, note: str) -> None:
    check_note(note)
    rows = ReconciliationItem.objects.filter(id=item.pk, state=origin)
    if not rows.update(state=state, note=note, decided_by=operator, decided_at=clock.now()):
        raise TooLate
    done = Action.CLOSED if state == State.CLOSED else Action.REOPENED
    audit_log.record(done, item, fields=["state", "note"], reason=note)
