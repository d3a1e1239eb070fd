"""Requests for actions, and the approval limits up to which an operator acts alone."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, Sum

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.amounts import IN_PARTS, max_amount
from payments.domain.operators.summary import describe
from payments.models import ApprovalLimit, Charge, OperatorAction

State = OperatorAction.State


@transaction.atomic
def propose(action: OperatorAction) -> None:
    """Save `action`, a new row with charge, kind, amount, reason and requester.

    It is approved at once where the requester may act alone, and otherwise waits for a second operator. Raises
    ValidationError where the charge does not allow it, or where the row exists already.
    """
    # Without this lock, two requests at the same time would not count each other towards the limit.
    charge = Charge.objects.select_for_update(no_key=True).get(id=action.charge_id)
    prepare(action, charge)
    action.full_clean()
    action.save(force_insert=True)
    audit_log.record(Action.PROPOSED, action, detail=describe(action), reason=action.reason)


def prepare(action: OperatorAction, charge: Charge) -> None:
    """Fill in the other columns of a new action on `charge`. Raises ValidationError where it is not possible."""
    action.currency = charge.currency
    action.limit = limit_of(action.proposed_by, charge.currency)
    action.expires_at = clock.now() + timedelta(hours=settings.APPROVAL_HOURS)
    most = max_amount(action.kind, charge)
    if not most:
        raise ValidationError("The charge does not allow this, or no longer.")
    if not 1 <= action.amount <= most:
        raise ValidationError({"amount": "This is more than there is, or nothing."})
    if action.kind not in IN_PARTS and action.amount != most:
        raise ValidationError({"amount": "This can be done of the whole amount only."})
    alone = may_be_done_alone(action.kind, action.amount, given_back_alone(charge), action.limit)
    action.state = State.APPROVED if alone else State.PROPOSED


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
