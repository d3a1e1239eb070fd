"""Concurrent operators and programs: an action is decided once, executed once, and never beyond the captured amount."""

import os
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection

from payments.domain.approvals import decide, execution
from payments.domain.approvals.request import submit
from payments.domain.operators.four_eyes import Refused
from payments.models import Attempt, Charge, OperatorAction
from tests.charging.doubles import Double, dies_after, provider
from tests.charging.elapsed_time import recover
from tests.client import Api
from tests.concurrency import at_once
from tests.operators.factories import ALONE, NOTE, approved, new_action, person, proposed
from tests.operators.test_decide import left_behind

pytestmark = pytest.mark.django_db(transaction=True)


def decided(verb: Callable[..., None], action: OperatorAction, decider: User) -> bool:
    try:
        verb(OperatorAction.objects.get(id=action.id), decider, NOTE)
    except Refused:
        return False
    return True


def test_of_concurrent_approvers_one_succeeds_and_the_action_is_executed_once(api: Api) -> None:
    api.charge()
    action = proposed()
    people = [person(f"ben{number}", "finance") for number in range(6)]
    assert sum(at_once(6, lambda number: decided(decide.approve, action, people[number]))) == 1
    assert Charge.objects.get().amount_refunded == action.amount


@pytest.mark.long
@pytest.mark.parametrize("lap", range(4))
def test_of_a_concurrent_approval_and_withdrawal_one_succeeds(lap: int, api: Api) -> None:
    api.charge()
    action = proposed()
    of_both = ((decide.withdraw, person("ana")), (decide.approve, person("ben", "finance")))
    withdrawn, agreed = at_once(2, lambda number: decided(of_both[number][0], action, of_both[number][1]))
    action.refresh_from_db()
    assert (withdrawn, agreed) == (action.state == "withdrawn", action.state == "done")
    assert withdrawn != agreed


@pytest.mark.long
def test_concurrent_requests_stay_within_the_limit(api: Api) -> None:
    api.charge()
    people = [person(f"ana{number}") for number in range(6)]

    def refund(number: int) -> str:
        action = new_action("refund", ALONE // 2, proposed_by=people[number])
        submit(action)
        return action.state

    assert sorted(at_once(6, refund)) == ["done"] * 2 + ["proposed"] * 4


def test_the_sweep_and_a_concurrent_execution_move_money_once(api: Api) -> None:
    api.charge()
    action = approved(proposed())
    left_behind()

    def do(number: int) -> None:
        execution.execute_left() if number else execution.execute(OperatorAction.objects.get())

    at_once(4, do)
    left_behind()
    execution.execute_left()
    action.refresh_from_db()
    assert (action.state, Attempt.objects.filter(kind="refund").count()) == ("done", 1)


@pytest.mark.long
def test_concurrent_refunds_of_operators_and_the_api_never_exceed_the_captured_amount(api: Api) -> None:
    charge = api.charge(amount=4 * ALONE)
    acts = [proposed("refund", ALONE), *(approved(proposed("refund", ALONE + 1)) for _ in range(2))]

    def refund(number: int) -> None:
        if number < len(acts):
            execution.execute(acts[number])
        else:
            api.post(f"/charges/{charge['id']}/refund", {"amount": 2 * ALONE})

    at_once(5, refund)
    row = Charge.objects.get()
    assert 0 < row.amount_refunded <= row.amount_captured


def test_a_process_killed_while_it_refunds_has_refunded_once(api: Api) -> None:
    api.charge()
    action = approved(proposed())
    connection.close()
    child = os.fork()
    if child == 0:
        with provider(Double(refund=dies_after)):
            execution.execute(action)
        os._exit(0)
    os.waitpid(child, 0)
    action.refresh_from_db()
    assert action.state == "approved"
    left_behind()
    execution.execute_left()
    assert Attempt.objects.filter(kind="refund").count() == 1
    recover()
    execution.execute_left()
    action.refresh_from_db()
    assert (action.state, action.attempt.outcome, Charge.objects.get().amount_refunded) == (
        "done",
        "Approved",
        action.amount,
    )
