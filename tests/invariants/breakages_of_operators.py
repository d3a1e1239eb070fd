"""One way to break each invariant of operators' actions."""

from datetime import timedelta

from django.db.models import F

from payments import clock
from payments.ids import public_id
from payments.models import Attempt, OperatorAction
from tests.invariants.breakages import breaks
from tests.invariants.forgery import forge
from tests.invariants.history import History


def action_of(history: History, name: str) -> OperatorAction:
    return OperatorAction.objects.get(charge=history.charge(name))


@breaks("actions_are_decided_by_another")
def approved_by_oneself(history: History) -> str:
    action = action_of(history, "refunded by two")
    forge(action, decided_by=F("proposed_by"))
    return public_id("ch", action.charge_id)


@breaks("approval_limits_hold")
def above_the_limit_alone(history: History) -> str:
    action = action_of(history, "refunded by two")
    forge(action, decided_by=None)
    return public_id("ch", action.charge_id)


@breaks("done_actions_have_their_attempt")
def done_by_an_attempt_at_something_else(history: History) -> str:
    action = action_of(history, "refunded by one")
    forge(action, attempt=Attempt.objects.get(charge=action.charge, kind="authorize"))
    return action.id.hex


@breaks("approved_actions_are_executed")
def approved_and_forgotten(history: History) -> str:
    action = action_of(history, "refunded by one")
    forge(action, state="approved", attempt=None, updated_at=clock.now() - timedelta(hours=1))
    return action.id.hex
