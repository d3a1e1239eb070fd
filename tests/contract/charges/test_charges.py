"""Charges: the outcome of each test card and type of source, and debits that a one-time PIN confirms."""

import re
from typing import Any

import pytest
from django.http import HttpResponse

from tests.client import APPROVED, CHALLENGED, DECLINED, Api, error_of, made
from tests.contract.calls import BEYOND_P, CARD_SOURCE, NO_STRINGS, debit, each, faults_of, keep, order, vaulted
from tests.contract.shapes import CHARGE, FAILURE, SOURCE_TYPES, faults_in
from tests.machine.behaviours import DECLINES

OTHER_TYPES = SOURCE_TYPES[1:]
CHALLENGED_CARDS = ["4242424242424242", "4012001037141112", "5555555555554444", "3566002020360505"]
LOST = {"answer lost": "4000000000005100", "request lost": "4000000000005118"}
ALWAYS = {
    "metadata",
    *("object", "id", "amount", "amount_captured", "amount_refunded", "authorized", "captured", "disputed", "currency"),
    *("statement_descriptor", "description", "source", "require_auth", "refunds", "status", "livemode"),
    *("created_at", "updated_at"),
}
OWNER = {"name": "Juan dela Cruz", "billing": {"name": "Juan", "city": "Cebu"}, "address_country": "PH"}


def stands(charge: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(charge[name] for name in ("status", "authorized", "captured", "amount_captured", "amount_refunded"))


def test_an_approved_charge_is_captured_at_once(api: Api) -> None:
    assert stands(api.charge(amount=500)) == ("succeeded", False, True, 500, 0)


def test_an_approved_charge_is_held_when_asked(api: Api) -> None:
    assert stands(api.held(amount=500)) == ("succeeded", True, False, 0, 0)


def test_a_new_charge_shows_these_members_and_no_others(api: Api) -> None:
    charge = api.charge()
    assert charge.keys() == ALWAYS
    assert charge["refunds"] == []
    assert (charge["created_at"] <= charge["updated_at"], charge["livemode"]) == (True, False)


def test_a_charge_with_everything_shows_everything(api: Api) -> None:
    charge = api.charge_source(api.source(CHALLENGED, owner=OWNER), metadata={"order": 5})
    assert charge.keys() == ALWAYS | {"owner", "action"}
    assert faults_in(charge, CHARGE) == []


def test_a_charge_is_read_as_it_was_made(api: Api) -> None:
    created = api.post("/charges/", order(api.source(owner=OWNER), metadata={"b": 1, "a": 2}))
    assert api.get(f"/charges/{created.json()['id']}").content == created.content


def test_a_charge_shows_its_source_whole(api: Api) -> None:
    source = api.source(owner=OWNER, metadata={"from": "shop"})
    charge = api.charge_source(source)
    shown = made(api.get(f"/sources/{source}"))
    assert {name: value for name, value in charge["source"].items() if name != "require_auth"} == shown


@pytest.mark.parametrize("require_auth", [True, False])
def test_require_auth_is_shown_in_both_places(api: Api, require_auth: bool) -> None:
    charge = api.charge(require_auth=require_auth)
    assert (charge["require_auth"], charge["source"]["require_auth"]) == (require_auth, require_auth)


def test_an_owner_is_shown_in_both_places(api: Api) -> None:
    charge = api.charge_source(api.source(owner=OWNER))
    assert (charge["owner"], charge["source"]["owner"]) == (OWNER, OWNER)


def test_without_an_owner_neither_place_has_one(api: Api) -> None:
    charge = api.charge()
    assert "owner" not in charge
    assert "owner" not in charge["source"]


@pytest.mark.parametrize("number", CHALLENGED_CARDS)
def test_a_challenged_card_waits_for_its_payer(api: Api, number: str) -> None:
    charge = api.charge(number)
    assert stands(charge) == ("pending", False, False, 0, 0)
    assert (charge["action"].keys(), charge["action"]["type"]) == ({"type", "url"}, "redirect_to_url")


@pytest.mark.parametrize("number", CHALLENGED_CARDS)
@pytest.mark.parametrize("capture", [True, False])
def test_a_challenged_card_is_approved_without_require_auth(api: Api, number: str, capture: bool) -> None:
    charge = api.charge(number, require_auth=False, capture=capture)
    assert (charge["status"], charge["captured"], charge["authorized"]) == ("succeeded", capture, not capture)
    assert "action" not in charge


def test_the_unchallenged_card_is_approved_even_with_require_auth(api: Api) -> None:
    charge = api.charge("4000000000003055", require_auth=True)
    assert charge["status"] == "succeeded"
    assert "action" not in charge


@pytest.mark.parametrize("members", [{"exp_month": "1", "exp_year": "2099"}, {"cvc": "000"}, {"cvc": "9999"}])
def test_any_future_expiry_and_any_cvc_work(api: Api, members: dict[str, str]) -> None:
    source = made(api.post("/sources/", {"type": "card", "card": CARD_SOURCE["card"] | members}))["id"]
    assert api.charge_source(source)["status"] == "succeeded"


@pytest.mark.parametrize(("number", "code"), DECLINES.items())
def test_a_decline_is_a_charge_that_failed_and_says_why(api: Api, number: str, code: str) -> None:
    response = api.post("/charges/", order(api.source(number)))
    charge = response.json()
    assert (response.status_code, stands(charge)) == (201, ("failed", False, False, 0, 0))
    assert charge["failure_data"]["code"] == code
    assert faults_in(charge["failure_data"], FAILURE) == []
    assert "action" not in charge


@pytest.mark.parametrize("members", [{"capture": False}, {"require_auth": False}])
def test_a_decline_is_the_same_however_it_was_asked(api: Api, members: dict[str, bool]) -> None:
    assert api.charge(DECLINED, **members)["failure_data"]["code"] == "card_declined"


@pytest.mark.parametrize("number", LOST.values(), ids=LOST.keys())
def test_an_unknown_outcome_is_pending_without_an_action(api: Api, number: str) -> None:
    response = api.post("/charges/", order(api.source(number)))
    charge = response.json()
    assert (response.status_code, stands(charge)) == (201, ("pending", False, False, 0, 0))
    assert not {"action", "failure_data"} & charge.keys()


@pytest.mark.parametrize("source_type", OTHER_TYPES)
def test_any_other_type_waits_for_its_payer(api: Api, source_type: str) -> None:
    charge = api.charge_source(api.wallet(source_type))
    assert stands(charge) == ("pending", False, False, 0, 0)
    assert charge["action"]["type"] == ("verify_otp" if source_type in ("bpi", "unionbank") else "redirect_to_url")


@pytest.mark.parametrize("source_type", OTHER_TYPES)
def test_any_other_type_waits_for_its_payer_without_require_auth_too(api: Api, source_type: str) -> None:
    assert api.charge_source(api.wallet(source_type), require_auth=False)["status"] == "pending"


@pytest.mark.parametrize("source_type", OTHER_TYPES)
def test_only_a_card_can_be_held(api: Api, source_type: str) -> None:
    source = api.wallet(source_type)
    assert faults_of(api.post("/charges/", order(source, capture=False))).keys() == {"capture"}
    assert made(api.get(f"/sources/{source}"))["used"] is False


@pytest.mark.parametrize("number", [APPROVED, DECLINED, CHALLENGED, *LOST.values()])
def test_a_source_is_charged_once_and_the_refusal_names_the_charge_that_took_it(api: Api, number: str) -> None:
    source = api.source(number)
    first = api.charge_source(source)
    response = api.post("/charges/", order(source))
    error = error_of(response)
    assert (response.status_code, error["type"], error["code"], error["charge_id"]) == (
        *(409, "invalid_request_error", "source_already_used"),
        first["id"],
    )


def test_a_vaulted_source_is_charged_again_and_again_without_its_payer(api: Api) -> None:
    source = vaulted(api, CHALLENGED)
    charges = [api.charge_source(source, require_auth=True) for _ in range(3)]
    assert [charge["status"] for charge in charges] == ["succeeded"] * 3
    assert len({charge["id"] for charge in charges}) == 3


@pytest.mark.long
@pytest.mark.parametrize("kind", OTHER_TYPES)
def test_a_vaulted_source_of_any_type_is_charged_without_its_payer(api: Api, kind: str) -> None:
    source = keep(api, api.wallet(kind))
    assert [stands(api.charge_source(source, 700)) for _ in range(2)] == [("succeeded", False, True, 700, 0)] * 2


def test_a_vaulted_source_can_be_held(api: Api) -> None:
    assert stands(api.charge_source(vaulted(api), 700, capture=False)) == ("succeeded", True, False, 0, 0)


def test_a_card_may_attach_first_and_be_declined_later(api: Api) -> None:
    source = vaulted(api, "4000000000000341")
    charges = [api.charge_source(source) for _ in range(2)]
    assert [charge["failure_data"]["code"] for charge in charges] == ["card_declined"] * 2


def test_a_long_statement_descriptor_is_kept_whole(api: Api) -> None:
    charge = api.charge(statement_descriptor="SARI STORE, " * 8)
    assert api.read(charge)["statement_descriptor"] == "SARI STORE, " * 8


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
