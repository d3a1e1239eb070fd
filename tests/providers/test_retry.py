"""The advice after a decline, for every code of every provider."""

import pytest

from payments.providers.adyen.declines import REFUSALS, declined, declined_by_words
from payments.providers.failure_data import REASONS, failure_data
from payments.providers.failures.retry import ADYEN, NETWORK, OURS, XENDIT, Codes, Retry, advised
from payments.providers.xendit import declines as xendit

TABLES = {"adyen": ADYEN, "xendit": XENDIT, "network": NETWORK, "ours": OURS}


def codes_of(lines: tuple[Codes, ...]) -> list[str]:
    return [code for line in lines for code in line.codes.split()]


@pytest.mark.parametrize(
    ("lines", "known"),
    [(ADYEN, {refusal.number for refusal in REFUSALS}), (XENDIT, xendit.CODES), (OURS, REASONS)],
    ids=["adyen", "xendit", "ours"],
)
def test_each_code_of_a_provider_has_one_line(lines: tuple[Codes, ...], known: set[str]) -> None:
    assert sorted(codes_of(lines)) == sorted(known)


@pytest.mark.parametrize("name", TABLES)
def test_each_line_says_where_it_is_from_and_no_code_is_there_twice(name: str) -> None:
    codes = codes_of(TABLES[name])
    assert len(codes) == len(set(codes))
    assert all(line.source for line in TABLES[name])


@pytest.mark.parametrize(
    ("number", "advice", "retry"),
    [
        ("2", None, "later"),
        ("5", None, "never"),
        ("6", None, "new_card"),
        ("38", None, "authenticate"),
        ("999", None, "later"),
        ("2", "03 : Do not try again", "never"),
        ("5", "02", "later"),
        ("6", "99", "new_card"),
    ],
)
def test_a_refusal_of_adyen_has_the_networks_advice_or_its_own(number: str, advice: str | None, retry: str) -> None:
    outcome = declined("Refused", number, "PSP1", "unchecked", advised(advice))
    assert failure_data(outcome)["retry"] == retry


@pytest.mark.parametrize("number", ["14", "20", "22", "31"])
def test_a_suspicion_of_fraud_has_the_advice_of_any_other_decline(number: str) -> None:
    assert failure_data(declined("Refused", number, "PSP1", "unchecked"))["retry"] == "later"
    assert failure_data(xendit.declined("SUSPECTED_FRAUDULENT"))["retry"] == "later"


def test_a_message_of_adyen_has_the_advice_too() -> None:
    assert declined_by_words("Blocked Card", "PSP1", "unchecked").retry is Retry.NEVER
    assert declined_by_words("Refused", "PSP1", "unchecked", advised("03")).retry is Retry.NEVER


@pytest.mark.parametrize(
    ("code", "retry"), [("STOLEN_CARD", "never"), ("AUTHENTICATION_FAILED", "authenticate"), ("NEW_ONE", "later")]
)
def test_a_failure_of_xendit_has_its_advice(code: str, retry: str) -> None:
    assert failure_data(xendit.declined(code))["retry"] == retry


@pytest.mark.parametrize("value", [None, 3, "", "99", ["03"]])
def test_what_is_no_advice_of_a_network_is_none(value: object) -> None:
    assert advised(value) is None
