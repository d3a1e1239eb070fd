"""Actions on charges: how much each can move, and which of them an operator may do alone."""

from django.core.exceptions import ValidationError

from payments.domain.approvals.executors import Credentials, Executor, in_brief, register
from payments.domain.approvals.limits import given_back_alone, limit_of, may_be_done_alone
from payments.domain.approvals.verbs import VERBS
from payments.models import ApprovalRequest, Charge, OperatorAction

State = OperatorAction.State


def fill_in(action: ApprovalRequest, charge: Charge) -> None:
    """Fill in the other columns of a new action on `charge`. Raises ValidationError where it is not possible."""
    action.merchant_id, action.currency, action.subject_id = charge.merchant_id, charge.currency, action.id
    action.limit = limit_of(action.proposed_by, charge.currency)
    verb, amount = VERBS[action.kind], action.amount
    most = verb.most(charge)
    if not most:
        raise ValidationError("The charge does not allow this, or no longer.")
    if not 1 <= amount <= most:
        raise ValidationError({"amount": "This is more than there is, or nothing."})
    if not verb.in_parts and amount != most:
        raise ValidationError({"amount": "This can be done of the whole amount only."})
    is_alone = may_be_done_alone(verb.name, amount, given_back_alone(charge), action.limit)
    action.state = State.APPROVED if is_alone else State.PROPOSED


def _prepare(action: ApprovalRequest, _: Credentials) -> None:
    # Without this lock, two requests at the same time would not count each other towards the limit.
    fill_in(action, Charge.objects.select_for_update(no_key=True).get(id=action.charge.pk))
    action.validate_unique()


# Executed after the approval, outside of its transaction.
register(OperatorAction.KINDS, Executor(in_brief, _prepare, lambda *_: State.APPROVED))
