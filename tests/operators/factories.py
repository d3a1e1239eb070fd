"""Operators with their limits, and the actions that they request."""

from typing import Any

from django.contrib.auth.models import Group, User

from payments.domain.approvals import decide, execution
from payments.domain.approvals.request import submit
from payments.failpoints import Failpoint
from payments.models import ApprovalLimit, Charge, OperatorAction
from payments.staff.roles import ALL_MERCHANTS
from tests.concurrency import crashing

ALONE = 5_000
REASON = "The goods never came"
NOTE = "Seen the parcel's return"


def person(name: str, role: str = "support") -> User:
    """Return an operator in `role`, whose approval limit is ALONE centavos."""
    ApprovalLimit.objects.filter(currency="PHP", role__name=role).update(amount=ALONE)
    user, _ = User.objects.get_or_create(username=name, is_staff=True)
    user.groups.add(*Group.objects.filter(name__in=[role, ALL_MERCHANTS]))
    return user


def new_action(kind: str = "refund", amount: int = ALONE, **members: Any) -> OperatorAction:
    """Return Ana's action on the newest charge, not saved yet."""
    given = {"charge": Charge.objects.latest("id"), "reason": REASON} | members
    given.setdefault("proposed_by", person("ana"))
    return OperatorAction(kind=kind, amount=amount, **given)


def proposed(kind: str = "refund", amount: int = ALONE + 1, **members: Any) -> OperatorAction:
    """Save a `new_action` and return it: as a request, unless it is within the limit; it is not executed yet."""
    action = new_action(kind, amount, **members)
    with crashing(Failpoint.EXECUTING):
        submit(action)
    return action


def approved(action: OperatorAction) -> OperatorAction:
    """Return a request that Ben approved and that is not executed yet."""
    with crashing(Failpoint.EXECUTING):
        decide.approve(action, person("ben", "finance"), NOTE)
    return action


def done(action: OperatorAction) -> OperatorAction:
    execution.execute(action)
    return action
