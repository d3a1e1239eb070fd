"""The rules for everything that one operator requests and another decides."""

from typing import Any, Protocol

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import ApprovalRequest, OperatorAction
from payments.models.operators.correction import free_of_secrets

Operator = AbstractBaseUser


class Refused(Exception):
    """A decision that this operator may not make, or that comes too late; nothing was changed."""


class Request(Protocol):
    """A row with its requester."""

    proposed_by_id: Any


@transaction.atomic
def expire_request(request: OperatorAction | ApprovalRequest, detail: str, **values: Any) -> bool:
    """Expire an open request with other new `values`; return False where it was decided or has more time."""
    rows = type(request)._default_manager.filter(id=request.pk, state=request.state, expires_at__lte=clock.now())
    if not rows.update(state=request.State.EXPIRED, updated_at=clock.now(), **values):
        return False
    audit_log.record(Action.EXPIRED, request, detail=detail)
    return True


def check_note(note: str) -> None:
    """Raise ValidationError for an empty note, or for one that holds a secret."""
    if not note.strip():
        raise ValidationError("Say why.", "required")
    free_of_secrets(note)


def decision(request: Request, decider: Operator, note: str) -> dict[str, Any]:
    """Return the columns that record a decision.

    Raises Refused for one's own request and for an empty note, ValidationError for a note that holds a secret.
    """
    if request.proposed_by_id == decider.pk:
        raise Refused("Nobody decides their own request. A second operator must.")
    if not note.strip():
        raise Refused("Give a reason for the decision.")
    free_of_secrets(note)
    return {"decided_by": decider, "decided_at": clock.now(), "note": note}
