"""Captures, voids and refunds whose provider answers only that it has them, and reports the outcome by webhook."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Charge, ProviderAccount
from tests.charging.elapsed_time import recover
from tests.client import CHALLENGED, Api, error_of
from tests.provider_events.psp import (
    APPLIED,
    WebhookPsp,
    announce,
    apply_due,
    approved,
    declined,
    do,
    event_about,
    name_of,
    paid_on_its_page,
    standing,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("verb", "status"), [("capture", "succeeded"), ("void", "voided")])
def test_an_operation_waits_for_the_webhook_that_ends_it(
    live: Api, psp: WebhookPsp, account: ProviderAccount, verb: str, status: str
) -> None:
    charge = live.held()
    assert do(live, charge, verb) == charge
    assert Charge.objects.get().operation == verb
    recover()
    assert live.read(charge) == charge

    announce(account, *psp.announced)

    assert (live.read(charge)["status"], live.read(charge)["captured"]) == (status, verb == "capture")
    assert standing() == [APPLIED]


@pytest.mark.long
def test_while_an_operation_waits_no_other_begins(live: Api) -> None:
    charge = live.held()
    do(live, charge, "capture")
    refused = live.post(f"/charges/{charge['id']}/void")
    assert (refused.status_code, error_of(refused)["code"]) == (409, "resource_busy")


def test_a_refund_waits_for_its_webhook_and_keeps_no_other_from_beginning(
    live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    charge = live.charge()
    do(live, charge, "refund", amount=4_000)
    do(live, charge, "refund", amount=6_000)

    announce(account, *psp.announced)

    after = live.read(charge)
    assert (after["status"], [refund["status"] for refund in after["refunds"]]) == ("refunded", ["succeeded"] * 2)


def test_an_operation_that_is_refused_later_leaves_the_charge_as_it_was(live: Api, account: ProviderAccount) -> None:
    charge = live.held()
    do(live, charge, "capture")
    announce(account, event_about(name_of("capture"), declined()))

    assert live.read(charge) == charge
    assert Charge.objects.get().operation == ""
    assert standing() == [APPLIED]


@pytest.mark.parametrize("verb", ["capture", "void"])
def test_what_is_taken_back_after_it_was_done_moves_nothing_and_needs_attention(
    live: Api, psp: WebhookPsp, account: ProviderAccount, verb: str
) -> None:
    charge = live.held()
    do(live, charge, verb)
    announce(account, *psp.announced)
    done = live.read(charge)

    announce(account, event_about(name_of(verb), declined()))

    assert live.read(charge) == done
    assert standing()[1] == (
        "needs_attention",
        "It was done, and the provider says now that it failed: It was refused.",
    )


def test_a_hold_that_the_provider_lets_go_needs_attention(live: Api, account: ProviderAccount) -> None:
    charge = live.held()
    announce(account, event_about(name_of("authorize"), declined("action_expired")))
    assert live.read(charge) == charge
    assert standing()[0][0] == "needs_attention"


def test_that_the_rest_of_a_hold_ran_out_that_was_captured_in_part_is_no_news(
    live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    charge = live.held()
    do(live, charge, "capture", amount=6_000)
    announce(account, *psp.announced)
    captured = live.read(charge)

    announce(account, event_about(name_of("authorize"), declined("action_expired"), amount=None))

    assert live.read(charge) == captured
    assert standing()[1] == ("no_news", "What was not captured of the hold ran out.")


def test_a_captured_payment_that_is_shown_as_run_out_needs_attention(
    live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    do(live, live.held(), "capture")
    announce(account, *psp.announced)
    announce(account, event_about(name_of("authorize"), declined("action_expired")))
    assert standing()[1][0] == "needs_attention"


def test_a_refund_that_is_shown_as_made_after_it_failed_is_no_news(
    live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    charge = live.charge()
    do(live, charge, "refund")
    announce(account, event_about(name_of("refund"), declined()))
    failed = live.read(charge)

    announce(account, *psp.announced)

    assert live.read(charge) == failed
    assert standing()[1] == (
        "no_news",
        "The provider reports refunds as made until they fail, and this one had failed.",
    )


def test_a_hold_that_we_released_may_be_reported_as_ended(live: Api, psp: WebhookPsp, account: ProviderAccount) -> None:
    charge = live.held()
    do(live, charge, "void")
    announce(account, event_about(name_of("authorize"), declined("action_expired")))
    assert standing() == [("waiting", "Another operation on the charge has not ended.")]

    announce(account, *psp.announced)
    apply_due()

    assert standing() == [APPLIED] * 2


def test_a_refund_that_fails_afterwards_gives_its_amount_back(
    live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    charge = live.charge()
    do(live, charge, "refund")
    announce(account, *psp.announced, event_about(name_of("refund"), declined()))

    after = live.read(charge)
    assert (after["status"], after["amount_refunded"], after["refunds"][0]["status"]) == ("succeeded", 0, "failed")
    assert standing() == [APPLIED] * 2


@pytest.mark.long
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(st.integers(0, 2), min_size=3, max_size=8))
def test_in_whatever_order_and_however_often_it_is_reported_the_end_is_the_same(
    live: Api, psp: WebhookPsp, account: ProviderAccount, order: list[int]
) -> None:
    charge = live.held()
    psp.announced.clear()
    do(live, charge, "capture")
    hold = event_about(name_of("authorize"), approved())
    announced = [hold, *psp.announced, event_about(name_of("capture"), None)]

    for number in [*order, 0, 1, 2]:
        announce(account, announced[number])
    apply_due()

    after = live.read(charge)
    assert (after["status"], after["captured"], after["amount_captured"]) == ("succeeded", True, 10_000)
    assert {state for state, _ in standing()} == {"applied"}


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_money_is_in_order_when_all_is_reported(live: Api, psp: WebhookPsp, account: ProviderAccount) -> None:
    for verb in ("capture", "void"):
        do(live, live.held(), verb)
    do(live, live.charge(), "refund", amount=1_000)
    live.charge(CHALLENGED)
    paid_on_its_page()
    announce(account, *psp.announced, event_about(name_of("authorize"), None))
    assert checks.run(INVARIANTS).failures == []
