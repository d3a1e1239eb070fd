"""The second person's word on a request, and its end without one."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Refused, decision
from payments.domain.operators.summary import said
from payments.domain.sweep_scope import EVERYBODY, Scope
from payments.models import StaffAct

State = StaffAct.State
Operator = AbstractBaseUser
BATCH = 100


def approve(act: StaffAct, approver: Operator, note: str) -> None:
    """Has a request be done by whoever does approved acts; nothing is asked of the provider here.

    Raises Refused for one's own request, for one that is open no more, and without a note; ValidationError for a note
    that holds a secret.
    """
    _end(act, Action.APPROVED, **decision(act, approver, note))


def decline(act: StaffAct, decider: Operator, note: str) -> None:
    """Ends a request. Raises as `approve` does."""
    _end(act, Action.DECLINED, **decision(act, decider, note))


def withdraw(act: StaffAct, proposer: Operator, reason: str) -> None:
    """Ends one's own request. Raises Refused for somebody else's, and for one that is open no more."""
    if act.proposed_by_id != proposer.pk:
        raise Refused("Only whoever asked for this may withdraw it.")
    _end(act, Action.WITHDRAWN, reason)


def expire(limit: int = BATCH, scope: Scope = EVERYBODY) -> int:
    """Ends at most `limit` requests that nobody has decided in time; returns how many."""
    due = StaffAct.objects.proposed().filter(scope.within("charge__"), expires_at__lte=clock.now())
    return sum(_expire(act) for act in due.order_by("expires_at")[:limit])


@transaction.atomic
def _end(act: StaffAct, action: Action, reason: str = "", **decided: Any) -> None:
    rows = StaffAct.objects.proposed().filter(id=act.id, expires_at__gt=clock.now())
    if not rows.update(state=State(action), updated_at=clock.now(), **decided):
        raise Refused("This request is open no more. Somebody else was first, or its time is over.")
    act.refresh_from_db()
    audit_log.record(action, act, detail=said(act), reason=reason or act.note)


@transaction.atomic
def _expire(act: StaffAct) -> bool:
    rows = StaffAct.objects.proposed().filter(id=act.id, expires_at__lte=clock.now())
    if not rows.update(state=State.EXPIRED, updated_at=clock.now()):
        return False
    audit_log.record(Action.EXPIRED, act, detail=said(act))
    return True
