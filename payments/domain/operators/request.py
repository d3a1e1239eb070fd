"""The beginning of an act: on record, and either to be done or before a second person."""

from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.amount_at_stake import IN_PARTS, at_stake
from payments.domain.operators.approval_limits import given_back_alone, limit_of, may_be_done_alone
from payments.domain.operators.summary import said
from payments.models import Charge, StaffAct

State = StaffAct.State


def propose(act: StaffAct) -> None:
    """Puts `act`, a new row with charge, kind, amount, reason and proposer, on record.

    It is approved where the proposer may do it alone, and otherwise waits for a second person. Raises ValidationError,
    also where the charge does not allow it, and where the act is on record already.
    """
    with transaction.atomic():
        # Two at once would not know of each other's share of the limit.
        charge = Charge.objects.select_for_update(no_key=True).get(id=act.charge_id)
        prepare(act, charge)
        act.full_clean()
        act.save(force_insert=True)
        audit_log.record(Action.PROPOSED, act, detail=said(act), reason=act.reason)


def prepare(act: StaffAct, charge: Charge) -> None:
    """Fills in the rest of a new act, by the charge in hand. Raises ValidationError where it is not possible."""
    act.currency = charge.currency
    act.limit = limit_of(act.proposed_by, charge.currency)
    act.expires_at = clock.now() + timedelta(hours=settings.STAFF_ACT_HOURS)
    _check(act, at_stake(act.kind, charge))
    alone = may_be_done_alone(act.kind, act.amount, given_back_alone(charge), act.limit)
    act.state = State.APPROVED if alone else State.PROPOSED


def _check(act: StaffAct, most: int) -> None:
    if not most:
        raise ValidationError("The charge does not allow this, or no longer.")
    if not 1 <= act.amount <= most:
        raise ValidationError({"amount": "This is more than there is, or nothing."})
    if act.kind not in IN_PARTS and act.amount != most:
        raise ValidationError({"amount": "This is done of the whole amount only."})
