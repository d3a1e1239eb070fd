"""A second person's word, and what becomes of requests that nobody decides."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError

from payments.domain import test_clock
from payments.domain.caller import Caller
from payments.domain.operators import decide as deciding
from payments.domain.operators import execute
from payments.domain.operators.four_eyes import Refused
from payments.models import AuditEntry, Charge, StaffAct
from tests.charging.passing import let_time_pass
from tests.client import APPROVED, Api
from tests.operators.making import NOTE, approved, person, proposed

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_of_ana(api: Api) -> StaffAct:
    api.charge()
    return proposed()


def test_an_approval_says_who_and_why(request_of_ana: StaffAct) -> None:
    act = approved(request_of_ana)
    assert (act.state, act.decided_by, act.note) == ("approved", person("ben", "finance"), NOTE)
    entry = AuditEntry.objects.latest("number")
    assert (entry.action, entry.reason) == ("approved", NOTE)


@pytest.mark.parametrize("decide", [deciding.approve, deciding.decline], ids=["approve", "decline"])
def test_nobody_decides_their_own(decide: object, request_of_ana: StaffAct) -> None:
    ana = person("ana")
    ana.is_superuser = True
    with pytest.raises(Refused, match="own proposal"):
        decide(request_of_ana, ana, NOTE)
    assert StaffAct.objects.get().state == "proposed"


def test_a_decision_wants_a_note(request_of_ana: StaffAct) -> None:
    with pytest.raises(Refused, match="rests on"):
        deciding.approve(request_of_ana, person("ben"), " ")


def test_a_note_holds_no_card_number(request_of_ana: StaffAct) -> None:
    with pytest.raises(ValidationError):
        deciding.decline(request_of_ana, person("ben"), f"seen {APPROVED}")


def test_what_was_declined_is_never_done(request_of_ana: StaffAct) -> None:
    deciding.decline(request_of_ana, person("ben"), NOTE)
    assert execute.go_on() == 0
    assert (StaffAct.objects.get().state, Charge.objects.get().amount_refunded) == ("declined", 0)


def test_what_was_declined_is_not_approved_afterwards(request_of_ana: StaffAct) -> None:
    deciding.decline(request_of_ana, person("ben"), NOTE)
    with pytest.raises(Refused, match="open no more"):
        deciding.approve(request_of_ana, person("cleo"), NOTE)


def test_whoever_asked_may_withdraw(request_of_ana: StaffAct) -> None:
    deciding.withdraw(request_of_ana, person("ana"), "A mistake")
    assert (request_of_ana.state, AuditEntry.objects.latest("number").reason) == ("withdrawn", "A mistake")


def test_nobody_else_withdraws_it(request_of_ana: StaffAct) -> None:
    with pytest.raises(Refused):
        deciding.withdraw(request_of_ana, person("ben"), "Mine now")


def test_a_request_that_nobody_decides_expires(request_of_ana: StaffAct) -> None:
    let_time_pass(StaffAct, "expires_at")
    assert deciding.expire() == 1
    assert StaffAct.objects.get().state == "expired"
    assert AuditEntry.objects.latest("number").action == "expired"


def test_a_request_is_not_approved_once_its_time_is_over(request_of_ana: StaffAct) -> None:
    let_time_pass(StaffAct, "expires_at")
    with pytest.raises(Refused, match="its time is over"):
        deciding.approve(request_of_ana, person("ben"), NOTE)


def test_what_is_decided_does_not_expire(request_of_ana: StaffAct) -> None:
    approved(request_of_ana)
    let_time_pass(StaffAct, "expires_at")
    assert deciding.expire() == 0


def test_time_that_is_moved_ends_requests_too(request_of_ana: StaffAct) -> None:
    charge = request_of_ana.charge
    happened = test_clock.advance(Caller(charge.merchant_id, livemode=False), timedelta(hours=49))
    request_of_ana.refresh_from_db()
    assert (happened.requests, request_of_ana.state) == (1, "expired")
