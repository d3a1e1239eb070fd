"""Debits that are confirmed by a one-time PIN."""

import re
from typing import Any

import pytest
from django.http import HttpResponse

from tests.client import CHALLENGED, Api, error_of, made
from tests.contract.bodies import BEYOND_P, NO_STRINGS, each
from tests.contract.calls import debit, faults_of

RIGHT, WRONG = "123456", "000000"
BANKS = pytest.mark.parametrize("bank", ["bpi", "unionbank"])


def verify(api: Api, charge: dict[str, Any], otp: Any = RIGHT, **members: Any) -> HttpResponse:
    body = {"confirmation_id": charge.get("action", {}).get("confirmation_id", "12345"), "otp": otp} | members
    return api.post(f"/charges/{charge['id']}/verify", body)


@BANKS
def test_the_right_pin_takes_the_money(api: Api, bank: str) -> None:
    response = verify(api, debit(api, bank))
    charge = response.json()
    assert (response.status_code, charge["status"], charge["captured"]) == (200, "succeeded", True)
    assert "action" not in charge


@BANKS
def test_an_approved_debit_names_the_account_that_was_debited(api: Api, bank: str) -> None:
    charge = debit(api, bank)
    assert "bank_account" not in charge["source"]
    account = made(verify(api, charge))["source"]["bank_account"]
    assert (account["bank_type"], account["account_name"]) == (bank, "Juan dela Cruz")
    assert re.fullmatch(r"\*{6}[0-9]{4}", account["account_number"])
    assert made(api.get(f"/sources/{charge['source']['id']}"))["bank_account"] == account


def test_the_events_of_a_source_show_when_its_account_was_named(api: Api) -> None:
    charge = debit(api)
    verify(api, charge)
    events = made(api.get("/events/", object=charge["source"]["id"]))["data"]
    assert [event["sequence"] for event in events] == [3, 2, 1]
    assert ["bank_account" in event["data"]["object"] for event in events] == [True, False, False]


@BANKS
def test_a_wrong_pin_leaves_the_charge_waiting(api: Api, bank: str) -> None:
    charge = debit(api, bank)
    answered = made(verify(api, charge, WRONG))
    assert (answered["status"], answered["action"]) == ("pending", charge["action"])


@BANKS
def test_the_right_pin_after_a_wrong_one_takes_the_money(api: Api, bank: str) -> None:
    charge = debit(api, bank)
    verify(api, charge, WRONG)
    assert made(verify(api, charge))["status"] == "succeeded"


@BANKS
def test_three_wrong_pins_fail_the_charge(api: Api, bank: str) -> None:
    charge = debit(api, bank)
    answers = [made(verify(api, charge, WRONG))["status"] for _ in range(3)]
    failed = api.read(charge)
    assert answers == ["pending", "pending", "failed"]
    assert (failed["failure_data"]["code"], "action" in failed) == ("authentication_failed", False)


def test_after_three_wrong_pins_the_right_one_is_too_late(api: Api) -> None:
    charge = debit(api)
    for _ in range(3):
        verify(api, charge, WRONG)
    response = verify(api, charge)
    assert (response.status_code, error_of(response)["code"]) == (409, "charge_not_verifiable")
    assert api.read(charge)["captured"] is False


def test_a_charge_is_verified_once(api: Api) -> None:
    charge = debit(api)
    verify(api, charge)
    response = verify(api, charge)
    error = error_of(response)
    assert (response.status_code, error["code"], error["charge_id"]) == (409, "charge_not_verifiable", charge["id"])


@pytest.mark.parametrize("number", [CHALLENGED, "4000000000003055", "4000000000000002"])
def test_a_card_is_not_verified_by_a_pin(api: Api, number: str) -> None:
    response = verify(api, api.charge(number))
    assert (response.status_code, error_of(response)["code"]) == (409, "charge_not_verifiable")


@pytest.mark.parametrize("kind", ["gcash", "qrph", "bdo", "rcbc"])
def test_only_debits_that_want_a_pin_are_verified_by_one(api: Api, kind: str) -> None:
    response = verify(api, api.charge_source(api.wallet(kind)))
    assert (response.status_code, error_of(response)["code"]) == (409, "charge_not_verifiable")


def test_the_confirmation_of_another_charge_takes_no_money(api: Api) -> None:
    charge, other = debit(api), debit(api)
    response = verify(api, charge, confirmation_id=other["action"]["confirmation_id"])
    assert 400 <= response.status_code < 500
    assert [api.read(each)["status"] for each in (charge, other)] == ["pending", "pending"]


def test_confirmation_and_pin_are_required(api: Api) -> None:
    response = api.post(f"/charges/{debit(api)['id']}/verify")
    assert faults_of(response) == {"confirmation_id": "missing", "otp": "missing"}


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"confirmation_id": "1234", "otp": ""}, "too_short"),
        ({"confirmation_id": "x" * 256, "otp": "x" * 11}, "too_long"),
        ({"confirmation_id": None, "otp": None}, "missing"),
        *(({"confirmation_id": value, "otp": value}, "invalid_type") for value in NO_STRINGS),
    ],
)
def test_confirmation_and_pin_have_bounds(api: Api, members: dict[str, Any], code: str) -> None:
    assert faults_of(verify(api, debit(api), **members)) == dict.fromkeys(members, code)


@each([text * 5 for text in BEYOND_P])
def test_a_confirmation_follows_p(api: Api, value: str) -> None:
    assert faults_of(verify(api, debit(api), confirmation_id=value)) == {"confirmation_id": "pattern"}


def test_a_wrong_pin_may_have_any_of_its_lengths(api: Api) -> None:
    charge = debit(api)
    assert [verify(api, charge, otp).status_code for otp in ("1", "x" * 10)] == [200, 200]


def test_a_refused_request_is_no_try(api: Api) -> None:
    charge = debit(api)
    for _ in range(5):
        verify(api, charge, "")
    assert made(verify(api, charge))["status"] == "succeeded"
