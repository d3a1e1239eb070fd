"""Charges of live mode from the API to the fakes of both providers and back by webhook: one story, the same end."""

from collections.abc import Iterator
from random import Random

import pytest
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Charge, ProviderEvent, ProviderMessage
from tests.charging.elapsed_time import let_time_pass, recover
from tests.pages.waiting_charges import SHOP, path_of
from tests.provider_events.live.world import SCANNED, WORLDS, World
from tests.provider_events.psp import do, send, standing
from tests.providers.bench import Money, Spoilt

pytestmark = pytest.mark.django_db


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest, shop: NewMerchant) -> Iterator[World]:
    with WORLDS[request.param](shop) as world:
        yield world


def test_a_payer_pays_on_the_providers_page_and_comes_back(world: World) -> None:
    charge = world.awaited()
    assert (charge["status"], charge["action"]["type"]) == ("pending", "redirect_to_url")

    assert world.led_on(world.bench.pay(world.payment)) == SHOP["success"]

    assert (world.live.read(charge)["status"], world.money) == ("succeeded", Money(taken=10_000))
    world.happen()
    assert world.live.read(charge)["status"] == "succeeded"


def test_a_payer_who_pays_and_never_comes_back_is_reported_by_webhook(world: World) -> None:
    charge = world.awaited()
    world.bench.pay(world.payment)
    world.happen()
    assert world.live.read(charge)["status"] == "succeeded"
    assert {state for state, _ in standing()} == {"applied"}


def test_a_payer_who_refuses_is_sent_back_to_where_the_shop_says(world: World) -> None:
    charge = world.awaited()
    assert world.led_on(world.bench.refuse(world.payment)) == SHOP["fail"]
    assert world.live.read(charge)["status"] == "failed"


def test_coming_back_without_having_paid_proves_nothing(world: World) -> None:
    charge = world.awaited()
    assert world.come_back({}).status_code == 200
    assert world.live.read(charge) == charge


@pytest.mark.long
def test_a_hold_is_captured_in_part_and_part_of_that_refunded(world: World) -> None:
    charge = world.live.held()
    assert world.money == Money(held=10_000)
    world.happen()
    do(world.live, charge, "capture", amount=6_000)
    world.happen()
    assert world.live.read(charge)["amount_captured"] == 6_000

    do(world.live, charge, "refund", amount=1_000)
    world.happen()

    after = world.live.read(charge)
    assert [refund["status"] for refund in after["refunds"]] == ["succeeded"]
    assert (after["amount_refunded"], world.money) == (1_000, Money(taken=6_000, returned=1_000))
    assert {state for state, _ in standing()} == {"applied"}


def test_a_hold_is_released(world: World) -> None:
    charge = world.live.held()
    do(world.live, charge, "void")
    world.happen()
    assert (world.live.read(charge)["status"], world.money) == ("voided", Money())


@pytest.mark.long
def test_what_is_reported_in_disorder_and_twice_ends_the_same(world: World) -> None:
    charge = world.live.held()
    do(world.live, charge, "capture")
    world.report_in_disorder(Random(7))
    do(world.live, charge, "refund")
    world.report_in_disorder(Random(8))

    after = world.live.read(charge)
    assert (after["status"], after["amount_refunded"]) == ("refunded", 10_000)
    assert world.money == Money(taken=10_000, returned=10_000)


def test_a_payment_whose_payer_never_came_is_ended_at_the_provider(world: World) -> None:
    charge = world.awaited()
    let_time_pass(Charge, "action_expires_at")
    recover()
    world.happen()
    assert world.live.read(charge)["failure_data"]["code"] == "action_expired"
    assert not Charge.objects.get().reversed_late


def test_money_that_comes_after_that_goes_back_and_is_shown(world: World) -> None:
    charge = world.awaited()
    let_time_pass(Charge, "action_expires_at")
    recover()
    world.pay_too_late()
    world.happen()
    assert (world.live.read(charge)["status"], Charge.objects.get().reversed_late) == ("failed", True)

    recover()
    world.happen()
    recover()

    assert Attempt.objects.get(kind="reverse").outcome == "Approved"
    assert (world.money.taken - world.money.returned, world.money.held) == (0, 0)


@pytest.mark.long
@pytest.mark.parametrize("how", [Spoilt.LOST, Spoilt.CUT, Spoilt.FAILING], ids=str)
def test_a_payment_whose_answer_was_lost_is_found_and_taken_once(world: World, how: Spoilt) -> None:
    world.spoil_next(how)
    charge = world.live.charge()
    assert (charge["status"], "action" in charge) == ("pending", False)

    world.happen()
    recover()

    assert (world.live.read(charge)["status"], world.money) == ("succeeded", Money(taken=10_000))


@pytest.mark.long
@pytest.mark.parametrize("verb", ["capture", "void", "refund"])
def test_an_operation_whose_answer_was_lost_is_done_once(world: World, verb: str) -> None:
    charge = world.live.charge() if verb == "refund" else world.live.held()
    world.happen()
    world.spoil_next(Spoilt.LOST)
    do(world.live, charge, verb)
    recover()
    world.happen()
    recover()

    ends = {"capture": Money(taken=10_000), "void": Money(), "refund": Money(taken=10_000, returned=10_000)}
    status = {"capture": "succeeded", "void": "voided", "refund": "refunded"}
    assert (world.live.read(charge)["status"], world.money) == (status[verb], ends[verb])
    assert not Attempt.objects.exclude(state="done").exists()


def test_an_answer_about_another_amount_moves_nothing(world: World) -> None:
    world.spoil_next(Spoilt.OTHER_AMOUNT)
    charge = world.live.charge()
    assert charge["status"] == "pending"
    assert "amount" in Attempt.objects.get().response["why"]
    recover()
    world.happen()


def test_a_webhook_that_somebody_else_sends_is_refused(world: World) -> None:
    charge = world.awaited()
    world.bench.pay(world.payment)
    [webhook] = world.bench.webhooks()
    headers, body = world.bench.forge(webhook)
    assert send(world.account, (dict(headers), body)).status_code == 401
    assert not ProviderMessage.objects.exists()
    assert world.live.read(charge) == charge


def test_a_payer_scans_the_providers_code_on_a_page_of_ours(world: World) -> None:
    charge = world.live.charge_source(world.live.wallet(SCANNED[world.account.provider], redirect=SHOP))
    page = path_of(charge["action"]["url"])
    assert page.startswith("/pay/")
    assert Client().get(f"{page}/qr.svg")["Content-Type"] == "image/svg+xml"

    world.bench.pay(world.payment)
    world.happen()

    onwards = Client().get(page)["Location"]
    assert Client().get(path_of(onwards))["Location"] == SHOP["success"]


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_money_is_in_order_after_all(world: World) -> None:
    world.awaited()
    world.led_on(world.bench.pay(world.payment))
    charge = world.live.held()
    do(world.live, charge, "capture", amount=6_000)
    world.happen()
    do(world.live, charge, "refund", amount=1_000)
    do(world.live, world.live.held(), "void")
    world.report_in_disorder(Random(9))
    world.awaited()
    let_time_pass(Charge, "action_expires_at")
    recover()
    world.pay_too_late()
    world.happen()
    recover()
    world.happen()

    assert checks.run(INVARIANTS).failures == []
    assert not Attempt.objects.exclude(state="done").exists()


def test_a_declined_card_fails_with_a_reason_for_its_payer(world: World) -> None:
    charge = world.live.charge_source(world.card_source(world.bench.card("insufficient_funds")))
    assert (charge["status"], charge["failure_data"]["code"]) == ("failed", "insufficient_funds")
    world.happen()
    assert {state for state, _ in standing()} == {"applied"}
    assert ProviderEvent.objects.exists()
