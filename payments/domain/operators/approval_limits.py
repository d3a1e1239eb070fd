"""The approval limits: how much an operator may give back without a second one."""

from django.contrib.auth.models import User
from django.db.models import Max, Sum

from payments.models import ApprovalLimit, Charge, OperatorAction

State = OperatorAction.State


def limit_of(operator: User, currency: str) -> int | None:
    """Return how much `operator` may give back alone: the highest limit of their roles; a superuser has all roles.

    None means that there is no limit for the currency, so a second operator must approve everything.
    """
    limits = ApprovalLimit.objects.filter(currency=currency)
    if not operator.is_superuser:
        limits = limits.filter(role__user=operator)
    most: int | None = limits.aggregate(most=Max("amount"))["most"]
    return most


def may_be_done_alone(kind: str, amount: int, given_back_already: int, limit: int | None) -> bool:
    """Return whether one operator is enough, where `given_back_already` went back without approval before."""
    return kind not in OperatorAction.OUTWARD or (limit is not None and given_back_already + amount <= limit)


def given_back_alone(charge: Charge) -> int:
    """Return what went back, or will go back, without approval; parts of a refund count together."""
    states = (State.APPROVED, State.DONE)
    actions = charge.operator_actions.filter(kind__in=OperatorAction.OUTWARD, state__in=states, decided_by=None)
    total: int = actions.aggregate(total=Sum("amount", default=0))["total"]
    return total
