"""What a charge may be asked with: every rule and every default."""

from typing import Any

import pytest

from tests.client import Api, error_of, made
from tests.contract.calls import (
    BEYOND_P,
    NO_BOOLEANS,
    NO_INTEGERS,
    NO_OBJECTS,
    NO_STRINGS,
    each,
    faults_of,
    nobodys,
    order,
)

LEAST = {"amount", "source", "description"}
DEFAULTED = ["currency", "statement_descriptor", "capture", "require_auth"]
OPTIONAL = [*DEFAULTED, "cvc", "redirect_url", "metadata"]


def ask(api: Api, **members: Any) -> Any:
    """Return the answer to a charge of a good card with these members."""
    return api.post("/charges/", order(api.source(), **members))


def refusals(api: Api, **members: Any) -> dict[str, str]:
    """Return the faults of such a charge; no source is needed, for a body is checked first."""
    return faults_of(api.post("/charges/", order(nobodys("src"), **members)))


def test_a_charge_needs_amount_source_and_description(api: Api) -> None:
    assert faults_of(api.post("/charges/", {})) == dict.fromkeys(LEAST, "missing")


def test_what_has_a_default_may_be_left_out(api: Api) -> None:
    charge = made(api.post("/charges/", {"amount": 1, "source": api.source(), "description": "x"}))
    assert [charge[name] for name in ("currency", "captured", "require_auth")] == ["PHP", True, True]
    assert charge["statement_descriptor"] == "SARI STORE"


def test_a_null_for_an_optional_member_means_absent(api: Api) -> None:
    charge = made(ask(api, **dict.fromkeys(OPTIONAL)))
    assert [charge[name] for name in ("currency", "captured", "require_auth")] == ["PHP", True, True]
    assert charge["metadata"] == {}


def test_a_null_for_a_required_member_is_missing(api: Api) -> None:
    assert refusals(api, **dict.fromkeys(LEAST)) == dict.fromkeys(LEAST, "missing")


@each([1, 99_999_999_999])
def test_an_amount_may_be_anything_within_its_bounds(api: Api, value: int) -> None:
    charge = made(ask(api, amount=value))
    assert (charge["amount"], charge["amount_captured"]) == (value, value)


@pytest.mark.parametrize(
    ("amount", "code"), [(0, "too_small"), (-1, "too_small"), (100_000_000_000, "too_big"), (10**29, "too_big")]
)
def test_an_amount_beyond_its_bounds_is_refused(api: Api, amount: int, code: str) -> None:
    assert refusals(api, amount=amount) == {"amount": code}


@each(NO_INTEGERS)
def test_an_amount_is_an_integer(api: Api, value: Any) -> None:
    assert refusals(api, amount=value) == {"amount": "invalid_type"}


@pytest.mark.parametrize(
    ("sent", "currency"),
    [("PHP", "PHP"), ("php", "PHP"), ("uSd", "USD"), ("JPY", "JPY"), ("kwd", "KWD"), ("EUR", "EUR")],
)
def test_a_currency_is_returned_in_upper_case(api: Api, sent: str, currency: str) -> None:
    charge = made(ask(api, currency=sent, amount=1001))
    assert (charge["currency"], charge["amount"]) == (currency, 1001)


def test_texts_may_have_their_longest_length(api: Api) -> None:
    members = {"description": "é" * 255, "statement_descriptor": "x" * 100}
    charge = made(ask(api, **members))
    assert {name: charge[name] for name in members} == members


def test_texts_may_have_their_shortest_length(api: Api) -> None:
    members = {"description": "é", "statement_descriptor": "abc"}
    charge = made(ask(api, **members))
    assert {name: charge[name] for name in members} == members


def test_texts_beyond_their_longest_length_are_refused_all_at_once(api: Api) -> None:
    members = {
        "source": "x" * 256,
        "description": "x" * 256,
        "statement_descriptor": "x" * 101,
        "currency": "x" * 5,
        "cvc": "1" * 5,
        "redirect_url": "https://shop.example/" + "x" * 2063,
    }
    assert refusals(api, **members) == dict.fromkeys(members, "too_long")


def test_texts_below_their_shortest_length_are_refused_all_at_once(api: Api) -> None:
    members = {"source": "", "description": "", "statement_descriptor": "ab", "currency": "P", "cvc": "12"}
    assert refusals(api, **members) == dict.fromkeys(members, "too_short")


@each(BEYOND_P)
def test_texts_beyond_p_are_refused_all_at_once(api: Api, value: str) -> None:
    members = {"source": value, "statement_descriptor": value * 3}
    assert refusals(api, **members) == dict.fromkeys(members, "pattern")


@each(NO_STRINGS)
def test_texts_of_another_type_are_refused_all_at_once(api: Api, value: Any) -> None:
    names = ["currency", "source", "description", "statement_descriptor", "cvc", "redirect_url"]
    assert refusals(api, **dict.fromkeys(names, value)) == dict.fromkeys(names, "invalid_type")


@each(NO_BOOLEANS)
def test_booleans_are_true_or_false(api: Api, value: Any) -> None:
    names = ["capture", "require_auth"]
    assert refusals(api, **dict.fromkeys(names, value)) == dict.fromkeys(names, "invalid_type")


@each(["12a", "１２３", "1 3", "123\n"])
def test_a_cvc_is_digits(api: Api, value: str) -> None:
    assert refusals(api, cvc=value).keys() == {"cvc"}


@each(["123", "1234"])
def test_a_cvc_is_taken_and_never_shown(api: Api, value: str) -> None:
    charge = made(ask(api, cvc=value))
    assert charge["status"] == "succeeded"
    assert "cvc" not in charge
    assert "cvc" not in charge["source"]["card"]


@each(["", "shop.example", "/thanks", "ftp://shop.example/", "mailto:a@shop.example"])
def test_a_redirect_url_is_an_absolute_web_address(api: Api, value: str) -> None:
    assert refusals(api, redirect_url=value).keys() == {"redirect_url"}


def test_a_redirect_url_may_have_its_longest_length(api: Api) -> None:
    assert ask(api, redirect_url="https://shop.example/" + "x" * 2062).status_code == 201


@each(
    [
        {},
        {"order": 5, "lines": [{"sku": "a", "count": 2}], "gift": True, "note": None, "weight": 1.25},
        {"z": 1, "a": 2, "m": {"z": 1, "a": 2}},
        {"ключ": "значение", "emoji": "🍚", "quote": '"\\/'},
        {"k" * 40: "x"},
        {str(number): number for number in range(50)},
        {"big": 10**29, "negative": -5},
        {"text": "x" * (16 * 1024 - 11)},
        {"flags": [0] * 60},
        {"1": {"2": {"3": {"4": {}}}}},
    ]
)
def test_metadata_is_returned_as_it_was_sent(api: Api, value: dict[str, Any]) -> None:
    charge = made(ask(api, metadata=value))
    assert charge["metadata"] == value
    assert [*api.read(charge)["metadata"].items()] == [*value.items()]


@each(NO_OBJECTS)
def test_metadata_is_an_object(api: Api, value: Any) -> None:
    assert refusals(api, metadata=value) == {"metadata": "invalid_type"}


def test_what_only_a_response_shows_cannot_be_sent(api: Api) -> None:
    names = ["id", "status", "captured", "authorized", "amount_refunded", "livemode", "refunds", "owner", "customer"]
    assert refusals(api, **dict.fromkeys(names, "x")) == dict.fromkeys(names, "unknown_parameter")


@pytest.mark.parametrize("source", ["src_1", "ch_1", "x", "x" * 255, "4242 4242"])
def test_a_source_that_is_not_there_is_missing(api: Api, source: str) -> None:
    response = api.post("/charges/", order(source))
    assert (response.status_code, error_of(response)["code"]) == (404, "resource_missing")


def test_a_refused_charge_leaves_its_source_unused(api: Api) -> None:
    source = api.source()
    assert api.post("/charges/", order(source, amount=0)).status_code == 422
    assert made(api.get(f"/sources/{source}"))["used"] is False
