"""What operators decide about a difference: whatever they did about it elsewhere, here it is closed with a note."""

from django.contrib.auth.models import AbstractBaseUser

from payments import clock
from payments.domain.operators import notes
from payments.models import ReconciliationItem

State = ReconciliationItem.State


class TooLate(Exception):
    """Somebody else was first; nothing was changed."""


def close(item: ReconciliationItem, operator: AbstractBaseUser, note: str) -> None:
    """Ends the item. Raises TooLate where it is closed already, ValidationError without a note or with a secret."""
    _decide(item, State.OPEN, State.CLOSED, operator, note)


def reopen(item: ReconciliationItem, operator: AbstractBaseUser, note: str) -> None:
    """Puts a closed item on the list again. Raises TooLate where it is open, ValidationError as `close` does."""
    _decide(item, State.CLOSED, State.OPEN, operator, note)


def _decide(item: ReconciliationItem, origin: str, state: str, operator: AbstractBaseUser, note: str) -> None:
    notes.check(note)
    rows = ReconciliationItem.objects.filter(id=item.pk, state=origin)
    if not rows.update(state=state, note=note, decided_by=operator, decided_at=clock.now()):
        raise TooLate
