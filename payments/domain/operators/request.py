"""Requests for actions on charges."""

from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.amounts import IN_PARTS, max_amount
from payments.domain.operators.approval_limits import given_back_alone, limit_of, may_be_done_alone
from payments.domain.operators.summary import describe
from payments.models import Charge, OperatorAction

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
    action.merchant_id, action.currency = charge.merchant_id, charge.currency
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
