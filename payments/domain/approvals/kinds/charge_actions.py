"""Actions on charges: how much each can move, and which of them an operator may do alone."""

from django.core.exceptions import ValidationError
from django.db.models import Sum

from payments.domain.approvals.executors import Credentials, Executor, register
from payments.domain.charging.operations import extension_days
from payments.domain.charging.state_machine import ChargeState, state_of
from payments.domain.operators.four_eyes import limit_of
from payments.models import ApprovalRequest, Charge, OperatorAction
from payments.money import shown_amount

Kind, State = OperatorAction.Kind, OperatorAction.State
# Only these can move part of the amount.
IN_PARTS = (Kind.CAPTURE, Kind.REFUND)


def max_amount(kind: str, charge: Charge) -> int:
    """Return the most that an action of this kind can move of `charge`; 0 where the charge does not allow it."""
    match kind, state_of(charge):
        case ((Kind.CAPTURE | Kind.RELEASE), ChargeState.HELD):
            return charge.amount
        case Kind.EXTEND, ChargeState.HELD if extension_days(charge):
            return charge.amount
        case Kind.VOID, ChargeState.CAPTURED if not charge.amount_refunded and not charge.disputed:
            return charge.amount_captured
        case Kind.REFUND, (ChargeState.CAPTURED | ChargeState.SETTLED):
            return max(0, charge.amount_captured - charge.amount_refunded - charge.amount_disputed)
        case _:
            return 0


def fill_in(action: ApprovalRequest, charge: Charge) -> None:
    """Fill in the other columns of a new action on `charge`. Raises ValidationError where it is not possible."""
    action.merchant_id, action.currency, action.subject_id = charge.merchant_id, charge.currency, action.id
    action.limit = limit_of(action.proposed_by, charge.currency)
    amount, most = action.amount, max_amount(action.kind, charge)
    if not most:
        raise ValidationError("The charge does not allow this, or no longer.")
    if not 1 <= amount <= most:
        raise ValidationError({"amount": "This is more than there is, or nothing."})
    if action.kind not in IN_PARTS and amount != most:
        raise ValidationError({"amount": "This can be done of the whole amount only."})
    alone = may_be_done_alone(action.kind, amount, _given_back_alone(charge), action.limit)
    action.state = State.APPROVED if alone else State.PROPOSED


def may_be_done_alone(kind: str, amount: int, given_back_already: int, limit: int | None) -> bool:
    """Return whether one operator is enough, where `given_back_already` went back without approval before."""
    return kind not in OperatorAction.OUTWARD or (limit is not None and given_back_already + amount <= limit)


def describe(action: ApprovalRequest) -> str:
    """Return a summary such as "refund of ₱1,250.00, ch_…"."""
    return f"{action.kind} of {shown_amount(action.amount, action.currency)}, {action.charge}"


def _prepare(action: ApprovalRequest, _: Credentials) -> None:
    # Without this lock, two requests at the same time would not count each other towards the limit.
    fill_in(action, Charge.objects.select_for_update(no_key=True).get(id=action.charge.pk))
    action.validate_unique()


def _given_back_alone(charge: Charge) -> int:
    """Return what went back, or will go back, without approval; parts of a refund count together."""
    actions = OperatorAction.objects.filter(charge=charge, kind__in=OperatorAction.OUTWARD, decided_by=None)
    done = actions.filter(state__in=(State.APPROVED, State.DONE))
    total: int = done.aggregate(total=Sum("amount", default=0))["total"]
    return total


# Executed after the approval, outside of its transaction.
register(OperatorAction.KINDS, Executor(describe, _prepare, lambda *_: State.APPROVED))
