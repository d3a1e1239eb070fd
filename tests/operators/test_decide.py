"""Decisions on requested actions, and the expiry of undecided requests."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError

from payments.domain import test_clock
from payments.domain.caller import Caller
from payments.domain.operators import decide as deciding
from payments.domain.operators import execute
from payments.domain.operators.four_eyes import Refused
from payments.models import AuditEntry, Charge, OperatorAction
from tests.charging.elapsed_time import let_time_pass
from tests.client import APPROVED, Api
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


@pytest.mark.parametrize("decide", [deciding.approve, deciding.decline], ids=["approve", "decline"])
def test_nobody_decides_their_own_request(decide: object, request_of_ana: OperatorAction) -> None:
    ana = person("ana")
    ana.is_superuser = True
    with pytest.raises(Refused, match="own request"):
        decide(request_of_ana, ana, NOTE)
    assert OperatorAction.objects.get().state == "proposed"


def test_a_decision_needs_a_note(request_of_ana: OperatorAction) -> None:
    with pytest.raises(Refused, match="Give a reason"):
        deciding.approve(request_of_ana, person("ben"), " ")


def test_a_note_holds_no_card_number(request_of_ana: OperatorAction) -> None:
    with pytest.raises(ValidationError):
        deciding.decline(request_of_ana, person("ben"), f"seen {APPROVED}")


def test_a_declined_action_is_never_executed(request_of_ana: OperatorAction) -> None:
    deciding.decline(request_of_ana, person("ben"), NOTE)
    assert execute.execute_left() == 0
    assert (OperatorAction.objects.get().state, Charge.objects.get().amount_refunded) == ("declined", 0)


def test_a_declined_request_cannot_be_approved(request_of_ana: OperatorAction) -> None:
    deciding.decline(request_of_ana, person("ben"), NOTE)
    with pytest.raises(Refused, match="no longer open"):
        deciding.approve(request_of_ana, person("cleo"), NOTE)


def test_the_requester_may_withdraw(request_of_ana: OperatorAction) -> None:
    deciding.withdraw(request_of_ana, person("ana"), "A mistake")
    assert (request_of_ana.state, AuditEntry.objects.latest("id").reason) == ("withdrawn", "A mistake")


def test_nobody_else_may_withdraw(request_of_ana: OperatorAction) -> None:
    with pytest.raises(Refused):
        deciding.withdraw(request_of_ana, person("ben"), "Mine now")


def test_an_undecided_request_expires(request_of_ana: OperatorAction) -> None:
    let_time_pass(OperatorAction, "expires_at")
    assert deciding.expire() == 1
    assert OperatorAction.objects.get().state == "expired"
    assert AuditEntry.objects.latest("id").action == "expired"


def test_an_expired_request_cannot_be_approved(request_of_ana: OperatorAction) -> None:
    let_time_pass(OperatorAction, "expires_at")
    with pytest.raises(Refused, match="it has expired"):
        deciding.approve(request_of_ana, person("ben"), NOTE)


def test_a_decided_request_does_not_expire(request_of_ana: OperatorAction) -> None:
    approved(request_of_ana)
    let_time_pass(OperatorAction, "expires_at")
    assert deciding.expire() == 0


def test_a_moved_clock_expires_requests_too(request_of_ana: OperatorAction) -> None:
    charge = request_of_ana.charge
    happened = test_clock.advance(Caller(charge.merchant_id, livemode=False), timedelta(hours=49))
    request_of_ana.refresh_from_db()
    assert (happened.requests, request_of_ana.state) == (1, "expired")
