"""Decisions on requested actions, and the expiry of undecided requests."""

from datetime import timedelta

import pytest

from payments.domain.approvals import decide as deciding
from payments.domain.approvals import execution
from payments.domain.maintenance import test_clock
from payments.domain.shared.caller import Caller
from payments.models import AuditEntry, Charge, OperatorAction
from tests.charging.elapsed_time import let_time_pass
from tests.client import Api
from tests.operators.factories import NOTE, approved, person, proposed

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_of_ana(api: Api) -> OperatorAction:
    api.charge()
    return proposed()


def test_an_approval_says_who_and_why(request_of_ana: OperatorAction) -> None:
    action = approved(request_of_ana)
    assert (action.state, action.decided_by, action.note) == ("approved", person("ben", "finance"), NOTE)
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.reason) == ("approved", NOTE)


def test_a_rejected_action_is_never_executed(request_of_ana: OperatorAction) -> None:
    deciding.reject(request_of_ana, person("ben"), NOTE)
    assert execution.execute_left() == 0
    assert (OperatorAction.objects.get().state, Charge.objects.get().amount_refunded) == ("rejected", 0)


def test_a_decided_request_does_not_expire(request_of_ana: OperatorAction) -> None:
    approved(request_of_ana)
    let_time_pass(OperatorAction, "expires_at")
    assert deciding.expire() == 0


def test_a_moved_clock_expires_requests_too(request_of_ana: OperatorAction) -> None:
    charge = request_of_ana.charge
    happened = test_clock.advance(Caller(charge.merchant_id, livemode=False), timedelta(hours=49))
    request_of_ana.refresh_from_db()
    assert (happened.requests, request_of_ana.state) == (1, "expired")
