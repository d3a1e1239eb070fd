"""Capture, void and refund: amounts, bounds and defaults."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from pytest_django import Settings

from payments.providers.simulator.models import SimulatedPayment
from payments.tasks import run_sweep
from tests.client import APPROVED, CHALLENGED, REFUNDS_FAIL, REFUNDS_WAIT, Api, error_of, made
from tests.contract.calls import NO_INTEGERS, NO_STRINGS, each, faults_of
from tests.contract.shapes import CHARGE, faults_in


def do(api: Api, verb: str, charge: dict[str, Any], **body: Any) -> HttpResponse:
    return api.post(f"/charges/{charge['id']}/{verb}", body or None)


def refuse(response: HttpResponse, code: str, charge: dict[str, Any]) -> None:
    """Assert a 409 of this code about this charge."""
    error = error_of(response)
    expected = (409, "invalid_request_error", code, charge["id"])
    assert (response.status_code, error["type"], error["code"], error["charge_id"]) == expected


def moneys(charge: dict[str, Any]) -> tuple[int, int, int]:
    return charge["amount"], charge["amount_captured"], charge["amount_refunded"]


def flags(charge: dict[str, Any]) -> tuple[str, bool, bool]:
    return charge["status"], charge["authorized"], charge["captured"]


def test_a_capture_takes_all_that_is_held(api: Api) -> None:
    charge = made(do(api, "capture", api.held(500)))
    assert (flags(charge), moneys(charge)) == (("succeeded", False, True), (500, 500, 0))


@pytest.mark.parametrize("amount", [1, 499, 500])
def test_a_capture_may_take_a_part_and_the_amount_stays(api: Api, amount: int) -> None:
    charge = made(do(api, "capture", api.held(500), amount=amount))
    assert (flags(charge), moneys(charge)) == (("succeeded", False, True), (500, amount, 0))


def test_a_null_amount_captures_all(api: Api) -> None:
    assert moneys(made(do(api, "capture", api.held(500), amount=None))) == (500, 500, 0)


def test_what_a_part_capture_left_is_released(api: Api) -> None:
    charge = api.held(500)
    do(api, "capture", charge, amount=100)
    refuse(do(api, "capture", charge, amount=100), "charge_not_capturable", charge)


@pytest.mark.parametrize("amount", [501, 99_999_999_999])
def test_more_than_is_held_cannot_be_captured(api: Api, amount: int) -> None:
    charge = api.held(500)
    refuse(do(api, "capture", charge, amount=amount), "amount_too_large", charge)
    assert api.read(charge) == charge


@pytest.mark.parametrize("verb", ["capture", "refund"])
@each([0, -1, 100_000_000_000])
def test_an_amount_beyond_the_bounds_is_refused(api: Api, verb: str, value: int) -> None:
    charge = api.held() if verb == "capture" else api.charge()
    assert faults_of(do(api, verb, charge, amount=value)).keys() == {"amount"}
    assert api.read(charge) == charge


@pytest.mark.parametrize("verb", ["capture", "refund"])
@each(NO_INTEGERS)
def test_an_amount_is_an_integer(api: Api, verb: str, value: Any) -> None:
    charge = api.held() if verb == "capture" else api.charge()
    assert faults_of(do(api, verb, charge, amount=value)) == {"amount": "invalid_type"}


@pytest.mark.parametrize("make", [Api.held, Api.charge], ids=["held", "captured"])
def test_a_void_needs_no_body(api: Api, make: Callable[..., dict[str, Any]]) -> None:
    charge = made(do(api, "void", make(api)))
    assert (charge["status"], charge["authorized"]) == ("voided", False)
    assert faults_in(charge, CHARGE) == []


def test_a_void_takes_no_amount(api: Api) -> None:
    assert faults_of(do(api, "void", api.held(), amount=1)) == {"amount": "unknown_parameter"}


def test_a_part_captured_charge_can_be_voided(api: Api) -> None:
    charge = api.held(500)
    do(api, "capture", charge, amount=100)
    assert made(do(api, "void", charge))["status"] == "voided"


def test_a_refund_gives_all_back(api: Api) -> None:
    charge = made(do(api, "refund", api.charge(amount=500)))
    assert (flags(charge), moneys(charge)) == (("refunded", False, True), (500, 500, 500))


def test_a_refund_has_its_members(api: Api) -> None:
    charge = made(do(api, "refund", api.charge(amount=500, currency="JPY"), amount=200))
    [refund] = charge["refunds"]
    expected = {"amount": 200, "charge": charge["id"], "currency": "JPY", "reason": "requested_by_customer"}
    assert {name: refund[name] for name in expected} == expected
    assert (refund["status"], faults_in(charge, CHARGE)) == ("succeeded", [])


def test_refunds_of_parts_add_up_until_all_is_refunded(api: Api) -> None:
    charge = api.charge(amount=500)
    parts = [made(do(api, "refund", charge, amount=amount)) for amount in (100, 150, 250)]
    assert [part["amount_refunded"] for part in parts] == [100, 250, 500]
    assert [part["status"] for part in parts] == ["succeeded", "succeeded", "refunded"]
    assert sorted(refund["amount"] for refund in parts[-1]["refunds"]) == [100, 150, 250]
    assert len({refund["id"] for refund in parts[-1]["refunds"]}) == 3


def test_a_refund_without_an_amount_is_of_what_is_left(api: Api) -> None:
    charge = api.charge(amount=500)
    do(api, "refund", charge, amount=123)
    refunded = made(do(api, "refund", charge))
    assert (refunded["status"], moneys(refunded)) == ("refunded", (500, 500, 500))
    assert sorted(refund["amount"] for refund in refunded["refunds"]) == [123, 377]


def test_no_more_than_was_captured_is_refunded(api: Api) -> None:
    charge = api.held(500)
    do(api, "capture", charge, amount=300)
    refuse(do(api, "refund", charge, amount=301), "amount_too_large", charge)
    refunded = made(do(api, "refund", charge))
    assert (refunded["status"], moneys(refunded)) == ("refunded", (500, 300, 300))


def test_no_more_than_is_left_is_refunded(api: Api) -> None:
    charge = api.charge(amount=500)
    do(api, "refund", charge, amount=400)
    refuse(do(api, "refund", charge, amount=101), "amount_too_large", charge)
    assert api.read(charge)["amount_refunded"] == 400


def test_a_refunded_charge_cannot_be_refunded_again(api: Api) -> None:
    charge = api.charge()
    do(api, "refund", charge)
    refuse(do(api, "refund", charge, amount=1), "charge_not_refundable", charge)


@pytest.mark.parametrize("make", [lambda api: api.held(), lambda api: api.charge(CHALLENGED)])
def test_only_captured_money_is_refunded(api: Api, make: Callable[[Api], dict[str, Any]]) -> None:
    charge = make(api)
    refuse(do(api, "refund", charge), "charge_not_refundable", charge)


@each(["x", "Wrong size & colour — sorry", "x" * 255])
def test_a_reason_is_returned_as_it_was_sent(api: Api, value: str) -> None:
    assert made(do(api, "refund", api.charge(), reason=value))["refunds"][0]["reason"] == value


def test_an_empty_reason_is_none(api: Api) -> None:
    refunded = made(do(api, "refund", api.charge(), reason=""))
    assert refunded["refunds"][0]["reason"] == "requested_by_customer"


@each(["x" * 256, *NO_STRINGS])
def test_what_is_no_reason_is_refused(api: Api, value: Any) -> None:
    assert faults_of(do(api, "refund", api.charge(), reason=value)).keys() == {"reason"}


def test_every_fault_of_a_refund_is_reported_at_once(api: Api) -> None:
    faults = faults_of(do(api, "refund", api.charge(), amount="1", reason="x" * 256, speed="fast"))
    assert faults == {"amount": "invalid_type", "reason": "too_long", "speed": "unknown_parameter"}


@pytest.mark.parametrize("verb", ["capture", "void", "refund"])
def test_a_vaulted_hold_is_worked_on_like_any_other(api: Api, verb: str) -> None:
    customer = made(api.post("/customers/", {"email": "maria@shop.example", "description": "x"}))
    source = api.source(APPROVED)
    made(api.post(f"/customers/{customer['id']}/sources", {"source": source}))
    charge = api.charge_source(source, capture=verb == "refund")
    assert made(do(api, verb, charge))["id"] == charge["id"]


def test_refunds_that_fail_afterwards_give_their_amount_back(api: Api, settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
    charge = api.charge(REFUNDS_FAIL, 500)
    do(api, "refund", charge)

    run_sweep("apply_simulator_messages")

    restored = api.read(charge)
    assert (restored["status"], moneys(restored)) == ("succeeded", (500, 500, 0))
    assert [refund["status"] for refund in restored["refunds"]] == ["failed"]


def test_a_refund_that_failed_may_be_asked_again(api: Api, settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
    charge = api.charge(REFUNDS_FAIL, 500)
    do(api, "refund", charge)
    run_sweep("apply_simulator_messages")
    assert made(do(api, "refund", charge))["amount_refunded"] == 500


def test_refunds_that_stay_pending_count_and_succeed_later(api: Api, settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
    charge = made(do(api, "refund", api.charge(REFUNDS_WAIT, 500), amount=200))
    assert (charge["refunds"][0]["status"], charge["amount_refunded"]) == ("pending", 200)

    run_sweep("apply_simulator_messages")

    settled = api.read(charge)
    assert (settled["refunds"][0]["status"], settled["amount_refunded"]) == ("succeeded", 200)


def test_a_pending_refund_is_not_given_back_twice(api: Api) -> None:
    charge = api.charge(REFUNDS_WAIT, 500)
    do(api, "refund", charge, amount=400)
    refuse(do(api, "refund", charge, amount=101), "amount_too_large", charge)


@pytest.mark.parametrize("amount", [2**31, 2**32 + 1, 99_999_999_999])
def test_amounts_beyond_32_bits_are_refunded_and_given_back_whole(api: Api, settings: Settings, amount: int) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
    charge = made(do(api, "refund", api.charge(REFUNDS_FAIL, 99_999_999_999), amount=amount))
    assert (charge["refunds"][0]["status"], charge["amount_refunded"]) == ("succeeded", amount)
    assert SimulatedPayment.objects.get().amount_refunded == amount

    run_sweep("apply_simulator_messages")

    assert api.read(charge)["amount_refunded"] == SimulatedPayment.objects.get().amount_refunded == 0
