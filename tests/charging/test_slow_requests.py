"""Requests that reach the provider after recovery had asked for them and was answered that they are unknown."""

import pytest

from payments import clock
from payments.domain.charging import attempts
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Charge
from payments.providers.base import NotSent
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.doubles import ArrivesLate, provider
from tests.charging.elapsed_time import recover
from tests.client import ANSWER_LOST, Api

pytestmark = pytest.mark.django_db(transaction=True)


def test_money_of_a_charge_that_was_given_up_is_sent_back(api: Api) -> None:
    with provider(ArrivesLate()):
        charge = api.charge()
    recover()

    assert charge["status"] == "failed"
    assert Charge.objects.get().reversed_late
    assert SimulatedPayment.objects.get().state == "voided"
    assert set(Attempt.objects.values_list("state", flat=True)) == {"done"}


def test_money_of_a_charge_that_was_given_up_is_sent_back_though_the_answer_is_lost(api: Api) -> None:
    with provider(ArrivesLate()):
        charge = api.charge(ANSWER_LOST)
    recover()

    assert api.read(charge)["status"] == "failed"
    assert SimulatedPayment.objects.get().state == "voided"
    assert checks.run(INVARIANTS).failures == []


def test_a_hold_of_a_charge_that_was_given_up_is_released(api: Api) -> None:
    with provider(ArrivesLate()):
        api.charge(capture=False)
    recover()

    assert Charge.objects.get().reversed_late
    assert SimulatedPayment.objects.get().state == "voided"


def test_a_capture_that_was_given_up_and_done_after_all_is_recorded(api: Api) -> None:
    held = api.held()
    with provider(ArrivesLate()):
        answer = api.post(f"/charges/{held['id']}/capture", {"amount": 4000}, key="once")

    after = api.read(held)
    assert (answer.status_code, after["captured"], after["amount_captured"]) == (200, True, 4000)
    assert SimulatedPayment.objects.get().amount_captured == 4000


def test_a_void_that_was_given_up_and_done_after_all_is_recorded(api: Api) -> None:
    held = api.held()
    with provider(ArrivesLate()):
        answer = api.post(f"/charges/{held['id']}/void")

    assert (answer.status_code, api.read(held)["status"]) == (200, "voided")
    assert SimulatedPayment.objects.get().state == "voided"


def test_a_refund_that_was_given_up_and_made_after_all_counts_again(api: Api) -> None:
    charge = api.charge()
    with provider(ArrivesLate()):
        api.post(f"/charges/{charge['id']}/refund", {"amount": 4000})

    after = api.read(charge)
    assert (after["amount_refunded"], after["refunds"][0]["status"]) == (4000, "succeeded")
    assert SimulatedPayment.objects.get().amount_refunded == 4000
    assert checks.run(INVARIANTS).failures == []


def test_a_process_that_may_be_taken_for_dead_asks_for_nothing_any_more(api: Api) -> None:
    api.charge()
    attempt = Attempt.objects.get()
    attempt.due_at = clock.now()

    assert attempts.ask(attempt, lambda _: pytest.fail("asked")) == NotSent("too late to ask")
