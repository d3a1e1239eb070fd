"""What a merchant sees of time that was made to pass."""

from datetime import timedelta
from typing import Any

import pytest

from payments.ids import parse_id
from payments.models import Attempt, Card, Charge
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.lateness import arrive_late
from tests.client import ANSWER_LOST, CHALLENGED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT, Api, made
from tests.clock.cast import DAY, HOUR, WEEK, let_pass


def refund_of(api: Api, charge: dict[str, Any]) -> str:
    """How the one refund of a charge stands."""
    [refund] = api.read(charge)["refunds"]
    return refund["status"]


def test_the_answer_says_how_much_time_has_passed(api: Api) -> None:
    assert let_pass(api, DAY) == {"object": "clock", "livemode": False, "advanced_seconds": 86_400}


def test_a_hold_is_released_when_its_days_are_over_and_not_before(api: Api) -> None:
    charge = api.held()

    let_pass(api, WEEK - HOUR)
    assert api.read(charge)["authorized"] is True

    let_pass(api, HOUR)
    after = api.read(charge)
    assert (after["status"], after["authorized"]) == ("voided", False)
    assert SimulatedPayment.objects.get().state == "voided"


def test_a_payer_who_did_not_act_within_the_hour_finds_that_time_is_over(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    page = charge["action"]["url"].partition("/simulator/")[2]

    let_pass(api, HOUR)

    failed = api.read(charge)
    assert (failed["status"], failed["failure_data"]["code"]) == ("failed", "action_expired")
    assert api.client.get(f"/simulator/{page}").status_code == 410


def test_part_of_the_hour_leaves_the_rest_of_it(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    page = charge["action"]["url"].partition("/simulator/")[2]

    let_pass(api, HOUR / 2)
    assert api.read(charge)["status"] == "pending"
    assert api.client.get(f"/simulator/{page}").status_code == 200

    let_pass(api, HOUR / 2)
    assert api.read(charge)["status"] == "failed"


def test_a_payer_who_came_back_undecided_has_no_more_time_than_before(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    let_pass(api, HOUR / 2)
    path = "/return/" + SimulatedPayment.objects.get().return_url.rpartition("/")[2]
    assert api.client.get(path).status_code == 200
    assert api.read(charge)["status"] == "pending"

    [(attempt_due_at, expires_at)] = Attempt.objects.values_list("due_at", "charge__action_expires_at")

    assert attempt_due_at == expires_at


@pytest.mark.parametrize(
    ("number", "status"), [(ANSWER_LOST, "succeeded"), (NEVER_ARRIVES, "failed")], ids=["answer", "request"]
)
def test_what_was_lost_is_found_by_the_next_lookup(api: Api, number: str, status: str) -> None:
    charge = api.charge(number)
    assert charge["status"] == "pending"

    let_pass(api, timedelta(seconds=5))

    assert api.read(charge)["status"] == status


@pytest.mark.long
def test_money_that_came_after_its_charge_was_given_up_is_sent_back(api: Api) -> None:
    api.charge(NEVER_ARRIVES)
    let_pass(api, timedelta(seconds=5))
    arrive_late(Attempt.objects.get())

    let_pass(api, timedelta(minutes=9))
    assert SimulatedPayment.objects.get().state == "captured"

    let_pass(api, timedelta(minutes=1))
    assert SimulatedPayment.objects.get().state == "voided"


@pytest.mark.long
@pytest.mark.parametrize(("number", "status"), [(REFUNDS_FAIL, "failed"), (REFUNDS_WAIT, "succeeded")])
def test_a_refund_that_ends_later_has_ended(api: Api, number: str, status: str) -> None:
    charge = api.charge(number)
    made(api.post(f"/charges/{charge['id']}/refund"))
    assert refund_of(api, charge) != status

    let_pass(api, timedelta(seconds=60))

    assert refund_of(api, charge) == status


def test_captured_money_is_settled_when_the_day_is_over(api: Api) -> None:
    api.charge()

    let_pass(api, DAY)

    charge = Charge.objects.get()
    assert (charge.settle_due_at, charge.settled_at is not None) == (None, True)


def test_a_cvc_that_nothing_used_is_destroyed(api: Api) -> None:
    source = api.source()

    let_pass(api, HOUR)

    assert Card.objects.get(source_id=parse_id("src", source)).sealed_cvc is None


def test_several_deadlines_are_passed_at_once(api: Api) -> None:
    held, taken, asked, lost = api.held(), api.charge(), api.charge(CHALLENGED), api.charge(ANSWER_LOST)

    let_pass(api, 30 * DAY)

    assert [api.read(charge)["status"] for charge in (held, taken, asked, lost)] == [
        "voided",
        "succeeded",
        "failed",
        "succeeded",
    ]
    assert not Attempt.objects.exclude(state="done").exists()


@pytest.mark.long
def test_what_begins_when_time_has_passed_waits_for_a_time_of_its_own(api: Api) -> None:
    lost = api.charge(ANSWER_LOST, capture=False)

    let_pass(api, 30 * DAY)
    assert api.read(lost)["authorized"] is True

    let_pass(api, WEEK)
    assert api.read(lost)["status"] == "voided"


def test_a_hold_that_was_captured_in_time_stays_captured(api: Api) -> None:
    charge = api.held()
    let_pass(api, WEEK - HOUR)
    made(api.post(f"/charges/{charge['id']}/capture"))

    let_pass(api, WEEK)

    assert api.read(charge)["captured"] is True
