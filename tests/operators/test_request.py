"""Requests for actions: saved, and approved at once or left to an approver."""

import pytest
from django.core.exceptions import ValidationError

from payments.models import AuditEntry, Charge, OperatorAction
from tests.client import APPROVED, DECLINED, Api
from tests.operators.factories import ALONE, REASON, approved, done, new_action, person, proposed

pytestmark = pytest.mark.django_db


def test_up_to_the_limit_no_approver_is_needed(api: Api) -> None:
    api.charge()
    assert proposed("refund", ALONE).state == "approved"


def test_above_the_limit_it_waits_for_an_approver(api: Api) -> None:
    api.charge()
    action = proposed("refund", ALONE + 1)
    assert (action.state, action.limit) == ("proposed", ALONE)


def test_parts_of_a_charge_count_together(api: Api) -> None:
    api.charge()
    done(proposed("refund", ALONE))
    assert proposed("refund", 1).state == "proposed"


def test_an_approved_request_does_not_count_towards_the_limit(api: Api) -> None:
    api.charge(amount=3 * ALONE)
    done(approved(proposed("refund", ALONE + 1)))
    assert proposed("refund", ALONE).state == "approved"


def test_a_void_of_a_captured_charge_has_a_limit_too(api: Api) -> None:
    api.charge(amount=ALONE + 1)
    assert proposed("void", ALONE + 1).state == "proposed"


@pytest.mark.parametrize("kind", ["capture", "release"])
def test_an_action_that_gives_nothing_back_needs_no_approver(kind: str, api: Api) -> None:
    api.held(100 * ALONE)
    assert proposed(kind, 100 * ALONE).state == "approved"


@pytest.mark.parametrize("amount", [0, -1, 10_001])
def test_an_amount_out_of_bounds_is_refused(amount: int, api: Api) -> None:
    api.charge(amount=10_000)
    with pytest.raises(ValidationError):
        proposed("refund", amount)
    assert not OperatorAction.objects.exists()


@pytest.mark.parametrize(("kind", "is_held"), [("void", False), ("release", True)])
def test_some_actions_need_the_whole_amount(kind: str, is_held: bool, api: Api) -> None:
    api.charge(amount=10_000, capture=not is_held)
    with pytest.raises(ValidationError):
        proposed(kind, 9_999)


@pytest.mark.parametrize("kind", ["capture", "void", "refund", "release"])
def test_a_failed_charge_allows_no_action(kind: str, api: Api) -> None:
    api.charge(DECLINED)
    with pytest.raises(ValidationError):
        proposed(kind, 1)


@pytest.mark.parametrize("kind", ["void", "refund"])
def test_a_held_charge_allows_no_refund(kind: str, api: Api) -> None:
    api.held()
    with pytest.raises(ValidationError):
        proposed(kind, 10_000)


@pytest.mark.parametrize("reason", ["", "  ", f"card {APPROVED}"], ids=["empty", "blank", "a card number"])
def test_a_reason_is_required_and_holds_no_secret(reason: str, api: Api) -> None:
    api.charge()
    with pytest.raises(Exception, match="reason"):
        proposed("refund", 1, reason=reason)
    assert not OperatorAction.objects.exists()


def test_the_same_form_sent_twice_is_saved_once(api: Api) -> None:
    api.charge()
    first = proposed("refund", 100)
    with pytest.raises(ValidationError, match="already exists"):
        proposed("refund", 100, id=first.id)
    assert OperatorAction.objects.count() == 1


def test_a_request_moves_no_money(api: Api) -> None:
    api.charge()
    proposed("refund", ALONE + 1)
    assert Charge.objects.get().amount_refunded == 0


def test_the_request_and_its_reason_are_in_the_audit_log(api: Api) -> None:
    api.charge()
    proposed("refund", ALONE, proposed_by=person("ana"))
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.reason) == ("proposed", REASON)
    assert entry.detail.startswith("refund of ₱50.00, ch_")


def test_each_charge_has_its_own_limit(api: Api) -> None:
    api.charge()
    done(proposed("refund", ALONE))
    api.charge()
    assert new_action().charge != OperatorAction.objects.get().charge
    assert proposed("refund", ALONE).state == "approved"
