"""Provider events that need attention: an operator closes them with a note."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import check_note
from payments.models import ProviderEvent

State = ProviderEvent.State


class TooLate(Exception):
    """The event needs no attention any more; nothing was changed."""


@transaction.atomic
def close(event: ProviderEvent, operator: AbstractBaseUser, note: str) -> None:
    """Close an event that needs attention. Raise TooLate, and ValidationError without a note or with a secret in it."""
    check_note(note)
    rows = ProviderEvent.objects.filter(id=event.pk, state=State.NEEDS_ATTENTION)
    now = clock.now()
    if not rows.update(state=State.CLOSED, note=note, closed_by=operator, closed_at=now, updated_at=now):
        raise TooLate
    detail = f"event {event}"
    audit_log.record(Action.CLOSED, event.message, fields=["state", "note"], detail=detail, reason=note)
