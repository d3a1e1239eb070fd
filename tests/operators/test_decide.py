"""Decisions on requested actions, and their execution by the API's verbs, at most once whichever process dies."""

from datetime import timedelta

import pytest

from payments import clock
from payments.domain.approvals import decide as deciding
from payments.domain.approvals import execution
from payments.domain.approvals.execution import caller_of
from payments.domain.charging import operations
from payments.domain.charging.verbs import REFUND
from payments.domain.maintenance import test_clock
from payments.domain.maintenance.retention import delete_old_rows
from payments.domain.shared.caller import Caller
from payments.ids import first_id
from payments.models import Attempt, AuditEntry, Charge, Event, IdempotencyRecord, OperatorAction
from tests.charging.doubles import KnowsNothing, LosesAnswers, NeverHears, Unreachable, provider
from tests.charging.elapsed_time import let_time_pass, recover
from tests.client import ANSWER_LOST, Api, made
from tests.operators.factories import ALONE, NOTE, approved, done, person, proposed

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


def left_behind() -> None:
    """Age the approved actions as if the process that approved them had died."""
    OperatorAction.objects.update(updated_at=clock.now() - timedelta(hours=1))


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "is_held", "amount", "becomes"),
    [
        ("capture", True, 4_000, ("succeeded", 4_000, 0)),
        ("release", True, 10_000, ("voided", 0, 0)),
        ("extend", True, 10_000, ("succeeded", 0, 0)),
        ("refund", False, 4_000, ("succeeded", 10_000, 4_000)),
        ("void", False, 10_000, ("voided", 10_000, 0)),
    ],
)
def test_each_kind_does_what_the_api_does(
    kind: str, is_held: bool, amount: int, becomes: tuple[str, int, int], api: Api
) -> None:
    api.charge(amount=10_000, capture=not is_held)
    action = proposed(kind, amount)
    done(action if action.state == "approved" else approved(action))
    charge = Charge.objects.get()
    assert (charge.status, charge.amount_captured, charge.amount_refunded) == becomes
    assert (action.state, action.attempt.kind, action.code) == ("done", "void" if kind == "release" else kind, "")


def test_the_merchants_event_names_the_actions_request(api: Api) -> None:
    charge = api.charge()
    action = done(proposed("refund", 100))
    event = made(api.get("/events/", type="refund.created", object=f"re_{action.attempt.refund_id.hex}"))["data"][0]
    assert event["request"] == {"id": f"req_{action.id.hex}", "idempotency_key": f"act-{action.id.hex}"}
    assert event["data"]["object"]["charge"] == charge["id"]


def test_an_action_whose_idempotency_key_expired_moves_money_once(api: Api) -> None:
    api.charge()
    action = proposed("refund", 100)
    operations.refund(caller_of(action), str(action.charge), action.amount)
    IdempotencyRecord.objects.update(id=first_id(clock.now() - timedelta(days=31)))
    delete_old_rows()
    done(action)
    assert (Charge.objects.get().amount_refunded, action.state) == (100, "done")


def test_an_action_executed_twice_moves_money_once(api: Api) -> None:
    api.charge()
    action = proposed("refund", 100)
    again = OperatorAction.objects.get()
    done(action)
    done(again)
    assert (Charge.objects.get().amount_refunded, again.state) == (100, "done")


def test_a_process_that_dies_before_the_call_leaves_the_action_to_the_sweep(api: Api) -> None:
    api.charge()
    proposed("refund", 100)
    left_behind()
    assert execution.execute_left() == 1
    assert (OperatorAction.objects.get().state, Charge.objects.get().amount_refunded) == ("done", 100)


def test_a_process_that_dies_after_the_call_causes_no_second_refund(api: Api) -> None:
    api.charge()
    action = proposed("refund", 100)
    REFUND.run(caller_of(action), action)
    left_behind()
    execution.execute_left()
    action.refresh_from_db()
    assert (action.state, action.attempt, Charge.objects.get().amount_refunded) == (
        "done",
        Attempt.objects.latest("id"),
        100,
    )


def test_the_sweep_leaves_a_new_approval_to_its_process(api: Api) -> None:
    api.charge()
    proposed("refund", 100)
    assert execution.execute_left() == 0


def test_the_sweep_executes_a_batch_at_once(api: Api) -> None:
    api.charge()
    action = proposed("refund", 100, batch=Charge.objects.get().id)
    assert execution.execute_left() == 1
    action.refresh_from_db()
    assert action.state == "done"


def test_an_action_that_the_charge_no_longer_allows_is_refused_with_a_code(api: Api) -> None:
    charge = api.charge()
    action = proposed("refund", 100)
    api.post(f"/charges/{charge['id']}/void")
    done(action)
    assert (action.state, action.code, action.attempt) == ("refused", "charge_not_refundable", None)
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.detail.rpartition(", ")[2]) == ("refused", "charge_not_refundable")


def test_a_refund_by_the_api_meanwhile_makes_this_one_too_large(api: Api) -> None:
    charge = api.charge()
    action = approved(proposed("refund", 8_000))
    api.post(f"/charges/{charge['id']}/refund", {"amount": 5_000})
    done(action)
    assert (action.code, Charge.objects.get().amount_refunded) == ("amount_too_large", 5_000)


def test_an_unreachable_provider_moves_nothing(api: Api) -> None:
    api.held()
    action = proposed("capture", 10_000)
    with provider(Unreachable()):
        done(action)
    assert (action.state, action.code, Charge.objects.get().captured) == ("refused", "provider_unavailable", False)


def test_an_action_with_an_unknown_outcome_is_done_and_listed(api: Api) -> None:
    api.charge()
    action = proposed("refund", 100)
    with provider(LosesAnswers()):
        done(action)
    assert (action.state, action.attempt.state) == ("done", "unknown")
    recover()
    action.attempt.refresh_from_db()
    assert (action.attempt.outcome, Event.objects.filter(type="refund.created").count()) == ("Approved", 1)


def test_another_unknown_outcome_on_the_charge_blocks_the_action(api: Api) -> None:
    charge = api.charge(amount=10_000)
    with provider(NeverHears()):
        api.post(f"/charges/{charge['id']}/refund", {"amount": 1_000})
    with provider(KnowsNothing()):
        action = done(proposed("refund", 100))
    assert (action.state, action.code) == ("refused", "resource_busy")


def test_one_failing_action_does_not_stop_the_others(api: Api) -> None:
    api.charge(ANSWER_LOST)
    recover()
    first = proposed("refund", 100)
    Attempt.objects.filter(charge=first.charge).update(provider="nobody")
    api.charge()
    second = proposed("refund", ALONE)
    left_behind()
    execution.execute_left()
    second.refresh_from_db()
    assert second.state == "done"
