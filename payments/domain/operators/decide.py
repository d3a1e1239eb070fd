"""Decisions on requested actions, and the expiry of requests without one."""

from typing import Any

from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Operator, Refused, decision, expire_request
from payments.domain.operators.summary import describe
from payments.domain.sweep_scope import ALL_MERCHANTS, Scope
from payments.models import OperatorAction

State = OperatorAction.State
BATCH = 100


def approve(action: OperatorAction, approver: Operator, note: str) -> None:
    """Approve a request, which is executed afterwards; this asks nothing of the provider.

    Raises Refused for one's own request, for one that is no longer open, and for an empty note; ValidationError for a
    note that holds a secret.
    """
    _end(action, Action.APPROVED, **decision(action, approver, note))


def decline(action: OperatorAction, decider: Operator, note: str) -> None:
    """Decline a request. Raises as `approve` does."""
    _end(action, Action.DECLINED, **decision(action, decider, note))


def withdraw(action: OperatorAction, requester: Operator, reason: str) -> None:
    """Withdraw one's own request. Raises Refused for somebody else's, and for one that is no longer open."""
    if action.proposed_by_id != requester.pk:
        raise Refused("Only the requester may withdraw a request.")
    _end(action, Action.WITHDRAWN, reason)


def expire(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Expire at most `limit` requests that nobody has decided in time; return how many."""
    due = OperatorAction.objects.proposed().filter(scope.within("charge__"), expires_at__lte=clock.now())
    return sum(expire_request(action, describe(action)) for action in due.order_by("expires_at")[:limit])


@transaction.atomic
def _end(action: OperatorAction, step: Action, reason: str = "", **decided: Any) -> None:
    rows = OperatorAction.objects.proposed().filter(id=action.id, expires_at__gt=clock.now())
    if not rows.update(state=State(step), updated_at=clock.now(), **decided):
        raise Refused("This request is no longer open. It was decided meanwhile, or it has expired.")
    action.refresh_from_db()
    audit_log.record(step, action, detail=describe(action), reason=reason or action.note)
