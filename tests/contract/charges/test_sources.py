"""Sources: the fifteen types, the rules of cards, and what is answered."""

from typing import Any

import pytest

from payments import clock
from tests.client import APPROVED, Api, made
from tests.contract.calls import CARD, CARD_SOURCE, each, faults_of
from tests.contract.shapes import SOURCE_TYPES

OTHER_TYPES = SOURCE_TYPES[1:]
ALWAYS = {"object", "id", "type", "vaulted", "used", "livemode", "created_at", "updated_at", "metadata"}
CARD_ALWAYS = {
    *("object", "id", "name", "last4", "exp_month", "exp_year"),
    *("brand", "country", "cvc_checked", "checked", "funding", "issuing_bank"),
}


def card(**members: Any) -> dict[str, Any]:
    return {"type": "card", "card": CARD | members}


@pytest.mark.parametrize("source_type", OTHER_TYPES)
def test_a_source_of_any_other_type_needs_no_more_than_the_type(api: Api, source_type: str) -> None:
    source = made(api.post("/sources/", {"type": source_type}))
    assert source.keys() - {"bank_account"} == ALWAYS
    assert source["type"] == source_type


@pytest.mark.parametrize("source_type", OTHER_TYPES)
def test_only_a_card_has_a_card(api: Api, source_type: str) -> None:
    assert faults_of(api.post("/sources/", {"type": source_type, "card": CARD})).keys() == {"card"}


@pytest.mark.parametrize("source_type", OTHER_TYPES)
def test_a_card_that_is_null_is_no_card(api: Api, source_type: str) -> None:
    assert "card" not in made(api.post("/sources/", {"type": source_type, "card": None}))


@pytest.mark.parametrize("body", [{"type": "card"}, {"type": "card", "card": None}])
def test_a_card_source_needs_a_card(api: Api, body: dict[str, Any]) -> None:
    assert faults_of(api.post("/sources/", body)) == {"card": "missing"}


@each(["Card", "GCASH", "gcash ", "gcash\n", "paypal", "", "*"])
def test_a_type_is_spelt_exactly(api: Api, value: str) -> None:
    assert faults_of(api.post("/sources/", {"type": value})) == {"type": "invalid_choice"}


@each([5, True, ["card"], {}])
def test_a_type_is_a_string(api: Api, value: Any) -> None:
    assert faults_of(api.post("/sources/", {"type": value})) == {"type": "invalid_type"}


def test_a_new_card_source_shows_these_members_and_no_others(api: Api) -> None:
    source = made(api.post("/sources/", CARD_SOURCE))
    assert source.keys() == ALWAYS | {"card"}
    assert source["card"].keys() == CARD_ALWAYS


def test_a_new_source_is_neither_used_nor_vaulted(api: Api) -> None:
    source = made(api.post("/sources/", CARD_SOURCE))
    assert (source["used"], source["vaulted"], source["livemode"]) == (False, False, False)


def test_a_source_with_everything_shows_everything(api: Api) -> None:
    given = {
        "redirect": {"success": "https://a.example", "fail": "https://b.example", "notify": "https://c.example"},
        "owner": {"name": "Juan", "address_country": "PH", "billing": {"name": "Juan"}, "shipping": {"name": "Ana"}},
        "metadata": {"order": 5},
    }
    address = {f"address_{part}": "Cebu" for part in ("line1", "line2", "city", "state", "country", "zip")}
    source = made(api.post("/sources/", card(**address) | given))
    assert source.keys() == ALWAYS | {"card", *given}
    assert source["card"].keys() == CARD_ALWAYS | address.keys()
    assert {name: source[name] for name in given} == given


def test_a_card_never_shows_its_number_or_cvc(api: Api) -> None:
    response = api.post("/sources/", CARD_SOURCE)
    assert not {"number", "cvc"} & response.json()["card"].keys()
    assert CARD["number"] not in response.content.decode()


def test_a_source_is_read_as_it_was_made(api: Api) -> None:
    created = api.post("/sources/", CARD_SOURCE)
    assert api.get(f"/sources/{created.json()['id']}").content == created.content


def test_a_card_is_returned_as_it_was_sent(api: Api) -> None:
    shown = made(api.post("/sources/", card(name="Ana Reyes")))["card"]
    assert (shown["name"], shown["last4"], shown["exp_year"]) == ("Ana Reyes", "3055", "2039")


@pytest.mark.parametrize(
    ("number", "code"),
    [
        *((text, "too_short") for text in ("", "400000000000305")),
        ("40000000000030555", "too_long"),
        *((text, "luhn") for text in ("4000000000003056", "4242424242424241", "1234567890123456")),
        *((text, "pattern") for text in ("4242 4242 4242 42", "4242-4242-4242-4", "400000000000305a")),
        *((text, "pattern") for text in ("４０００００００００００３０５５", "٤٠٠٠٠٠٠٠٠٠٠٠٣٠٥٥")),
        *((text, "pattern") for text in ("4000000000003055\n", " 4000000000003055")),
    ],
)
def test_a_card_number_is_sixteen_ascii_digits_with_the_right_check_digit(api: Api, number: str, code: str) -> None:
    assert faults_of(api.post("/sources/", card(number=number))) == {"card.number": code}


@pytest.mark.parametrize("name", ["number", "exp_month", "exp_year", "cvc"])
@each([12, 2039, True, ["12"], {}])
def test_the_digits_of_a_card_are_strings(api: Api, name: str, value: Any) -> None:
    assert faults_of(api.post("/sources/", card(**{name: value}))) == {f"card.{name}": "invalid_type"}


@each(["1", "9", "01", "09", "10", "12"])
def test_a_month_has_one_or_two_digits(api: Api, value: str) -> None:
    assert int(made(api.post("/sources/", card(exp_month=value)))["card"]["exp_month"]) == int(value)


@pytest.mark.parametrize("year", ["2039", "2020"])
@each(["", "0", "00", "13", "99", "001", "1a", " 1", "-1", "１", "1\n"])
def test_what_is_no_month_is_refused_in_any_year(api: Api, value: str, year: str) -> None:
    assert faults_of(api.post("/sources/", card(exp_month=value, exp_year=year))).keys() == {"card.exp_month"}


@each(["", "39", "203", "20390", "20a9", "-039", "２０３９", "2039\n"])
def test_a_year_has_exactly_four_digits(api: Api, value: str) -> None:
    assert faults_of(api.post("/sources/", card(exp_year=value))).keys() == {"card.exp_year"}


@pytest.mark.parametrize("months_ago", [1, 12, 24, 600])
def test_a_card_that_has_expired_is_refused(api: Api, months_ago: int) -> None:
    today = clock.now()
    year, month = divmod(today.year * 12 + today.month - 1 - months_ago, 12)
    faults = faults_of(api.post("/sources/", card(exp_month=str(month + 1), exp_year=str(year))))
    assert len(faults) == 1
    assert faults.keys() <= {"card.exp_month", "card.exp_year"}


@each(["000", "123", "1234"])
def test_a_cvc_has_three_or_four_digits(api: Api, value: str) -> None:
    assert api.post("/sources/", card(cvc=value)).status_code == 200


@each(["", "12", "12345", "12a", "１２３", "12 ", "123\n"])
def test_what_is_no_cvc_is_refused(api: Api, value: str) -> None:
    assert faults_of(api.post("/sources/", card(cvc=value))).keys() == {"card.cvc"}


@pytest.mark.parametrize(
    ("number", "brand"),
    [
        ("4242424242424242", "visa"),
        ("4012001037141112", "visa"),
        ("5555555555554444", "mastercard"),
        ("3566002020360505", "jcb"),
        ("4000000000003055", "visa"),
        ("4000000000000002", "visa"),
        ("4000000000005100", "visa"),
    ],
)
def test_a_test_card_is_known_by_its_number(api: Api, number: str, brand: str) -> None:
    shown = made(api.post("/sources/", card(number=number)))["card"]
    assert shown["brand"] == brand
    assert "unknown" not in (shown["funding"], shown["country"], shown["issuing_bank"])


def test_a_card_of_an_unknown_bank_says_so(api: Api) -> None:
    shown = made(api.post("/sources/", card(number="9999999999999995")))["card"]
    assert [shown[name] for name in ("brand", "country", "funding", "issuing_bank")] == ["unknown"] * 4


@pytest.mark.parametrize(("number", "checked"), [(APPROVED, "pass"), ("4000000000000127", "fail")])
def test_the_outcome_of_the_cvc_check_is_shown_after_the_charge(api: Api, number: str, checked: str) -> None:
    assert api.charge(number)["source"]["card"]["cvc_checked"] == checked


def test_a_charge_uses_its_source(api: Api) -> None:
    source = api.source()
    api.charge_source(source)
    assert made(api.get(f"/sources/{source}"))["used"] is True


def test_a_failed_charge_leaves_its_source_used(api: Api) -> None:
    source = api.source("4000000000000002")
    api.charge_source(source)
    assert made(api.get(f"/sources/{source}"))["used"] is True
