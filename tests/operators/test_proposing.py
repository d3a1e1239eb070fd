"""What is asked for: on record, and to be done or before a second person."""

import pytest
from django.core.exceptions import ValidationError

from payments.models import AuditEntry, Charge, StaffAct
from tests.client import APPROVED, DECLINED, Api
from tests.operators.making import ALONE, REASON, approved, done, new_act, person, proposed

pytestmark = pytest.mark.django_db


def test_up_to_the_limit_it_is_done_without_anybody_else(api: Api) -> None:
    api.charge()
    assert proposed("refund", ALONE).state == "approved"


def test_above_the_limit_it_waits_for_a_second_person(api: Api) -> None:
    api.charge()
    act = proposed("refund", ALONE + 1)
    assert (act.state, act.limit) == ("proposed", ALONE)


def test_parts_of_a_charge_count_together(api: Api) -> None:
    api.charge()
    done(proposed("refund", ALONE))
    assert proposed("refund", 1).state == "proposed"


def test_what_a_second_person_agreed_to_leaves_the_limit_as_it_is(api: Api) -> None:
    api.charge(amount=3 * ALONE)
    done(approved(proposed("refund", ALONE + 1)))
    assert proposed("refund", ALONE).state == "approved"


def test_a_void_of_a_captured_charge_has_a_limit_too(api: Api) -> None:
    api.charge(amount=ALONE + 1)
    assert proposed("void", ALONE + 1).state == "proposed"


@pytest.mark.parametrize("kind", ["capture", "release"])
def test_what_gives_nothing_back_needs_nobody_else(kind: str, api: Api) -> None:
    api.held(100 * ALONE)
    assert proposed(kind, 100 * ALONE).state == "approved"


@pytest.mark.parametrize("amount", [0, -1, 10_001])
def test_no_more_is_asked_for_than_there_is(amount: int, api: Api) -> None:
    api.charge(amount=10_000)
    with pytest.raises(ValidationError):
        proposed("refund", amount)
    assert not StaffAct.objects.exists()


@pytest.mark.parametrize(("kind", "is_held"), [("void", False), ("release", True)])
def test_what_is_done_of_the_whole_is_not_done_of_a_part(kind: str, is_held: bool, api: Api) -> None:
    api.charge(amount=10_000, capture=not is_held)
    with pytest.raises(ValidationError):
        proposed(kind, 9_999)


@pytest.mark.parametrize("kind", ["capture", "void", "refund", "release"])
def test_of_a_failed_charge_nothing_is_asked_for(kind: str, api: Api) -> None:
    api.charge(DECLINED)
    with pytest.raises(ValidationError):
        proposed(kind, 1)


@pytest.mark.parametrize("kind", ["void", "refund"])
def test_of_a_held_charge_nothing_is_given_back(kind: str, api: Api) -> None:
    api.held()
    with pytest.raises(ValidationError):
        proposed(kind, 10_000)


@pytest.mark.parametrize("reason", ["", "  ", f"card {APPROVED}"], ids=["empty", "blank", "a card number"])
def test_a_reason_is_wanted_and_holds_no_secret(reason: str, api: Api) -> None:
    api.charge()
    with pytest.raises(Exception, match="reason"):
        proposed("refund", 1, reason=reason)
    assert not StaffAct.objects.exists()


def test_the_same_form_sent_twice_is_on_record_once(api: Api) -> None:
    api.charge()
    first = proposed("refund", 100)
    with pytest.raises(ValidationError, match="already exists"):
        proposed("refund", 100, id=first.id)
    assert StaffAct.objects.count() == 1


def test_asking_moves_no_money(api: Api) -> None:
    api.charge()
    proposed("refund", ALONE + 1)
    assert Charge.objects.get().amount_refunded == 0


def test_what_was_asked_for_and_why_is_in_the_audit_log(api: Api) -> None:
    api.charge()
    proposed("refund", ALONE, proposed_by=person("ana"))
    entry = AuditEntry.objects.latest("number")
    assert (entry.action, entry.reason) == ("proposed", REASON)
    assert entry.detail.startswith("refund of PHP 50.00, ch_")


def test_a_new_act_of_another_charge_has_a_limit_of_its_own(api: Api) -> None:
    api.charge()
    done(proposed("refund", ALONE))
    api.charge()
    assert new_act().charge != StaffAct.objects.get().charge
    assert proposed("refund", ALONE).state == "approved"
