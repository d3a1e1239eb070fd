"""A card number is known among other text, and what is none is left alone."""

import json
import sys
from collections.abc import Callable
from random import Random
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from payments import ids
from payments.sensitive_data.card_numbers import holds_card_number, holds_taken_card
from payments.sensitive_data.luhn import luhn_valid
from payments.sensitive_data.plain_text import plain
from payments.sensitive_data.redaction import redact, redact_bytes, suspicious
from tests.canaries.marks import SHAPES, SOURCE_CVC, in_groups, marked
from tests.canaries.scanner import findings
from tests.figures.inputs.card_texts import DISGUISES, ORDINARY

NUMBER = marked(11, 1)
PLAIN = "4242424242424242"
BEGINNINGS = ["4", "51", "2221", "3528", "34", "62"]
# Test numbers that the schemes publish, by how many digits they have.
BY_LENGTH = {
    13: "4222222222222",
    14: "36006666333344",
    15: "378282246310005",
    16: "6011111111111117",
    19: "6205500000000000004",
}


def whole(beginning: str, digits: str) -> str:
    """Return a card number that begins so, with as many digits as its scheme's have."""
    length = 14 if beginning == "34" else 15
    number = (beginning + digits)[:length]
    return next(f"{number}{check}" for check in range(10) if luhn_valid(f"{number}{check}"))


NUMBERS = st.builds(whole, st.sampled_from(BEGINNINGS), st.text("0123456789", min_size=16, max_size=16))

# What secrets are made of, and what stands beside them.
PIECES = ["4111", "1111", "7", "123", " ", "-", "%20", "\u00a0", "+", ":", "=", '"', "\\", ",", "é", "x", "["]
WORDS = ["CVC", "cvv2", "csc", "Security Code", "otp", "Basic ", "bearer ", "Authorization", "sk_live_", "whsec_"]
ANSWERS = st.lists(st.sampled_from(PIECES) | st.sampled_from(WORDS), max_size=30).map("".join)


@settings(deadline=None)
@given(number=NUMBERS, separator=st.sampled_from(["", " ", "-", "\u00a0"]), before=st.text(), after=st.text())
def test_a_card_number_is_found_among_any_text(number: str, separator: str, before: str, after: str) -> None:
    assert holds_card_number(f"{before} ({in_groups(number, separator)}) {after}")


@settings(deadline=None)
@given(number=NUMBERS, before=st.integers(0, 9999), after=st.integers(0, 9))
def test_a_card_number_is_found_beside_other_numbers(number: str, before: int, after: int) -> None:
    assert holds_card_number(f"{before} {in_groups(number, ' ')} {after}")


def test_a_card_number_is_found_on_its_track() -> None:
    assert holds_card_number(f"%B{NUMBER}^DELA CRUZ/JUAN^39121010000000000")


@settings(deadline=None)
@given(number=NUMBERS)
def test_a_number_with_a_wrong_check_digit_is_none(number: str) -> None:
    assert not holds_card_number(f"{number[:-1]}{(int(number[-1]) + 1) % 10}")


@settings(deadline=None)
@given(uuid=st.uuids())
def test_an_id_is_none(uuid: UUID) -> None:
    assert not any(map(holds_card_number, (str(uuid), uuid.hex, ids.public_id("src", uuid))))


@pytest.mark.parametrize(
    "text",
    [
        "+63 917 123 4567",
        "639171234567890",
        "1795236734123456",
        "1234567890123452",
        f"1{NUMBER}",
        f"{NUMBER}1",
        f"{NUMBER[:6]}…{NUMBER[-4:]}",
    ],
)
def test_phones_times_and_other_numbers_are_none(text: str) -> None:
    assert not holds_card_number(text)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_card_number_of_any_length_is_found_in_any_disguise(disguise: str) -> None:
    for number in BY_LENGTH.values():
        assert holds_card_number(f"paid by {DISGUISES[disguise](number)}, thanks")


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_card_of_the_api_is_refused_in_any_disguise(disguise: str) -> None:
    assert holds_taken_card(f"paid by {DISGUISES[disguise](NUMBER)}, thanks")


@pytest.mark.parametrize("number", ["576461413038785008", "5764614130387858", *BY_LENGTH.values()])
def test_a_number_of_no_card_that_is_taken_is_hidden_and_not_refused(number: str) -> None:
    assert luhn_valid(number)
    assert holds_taken_card(number) == (number == BY_LENGTH[16])
    assert redact(number) == "[redacted]"


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_card_number_of_any_length_is_hidden_in_any_disguise(disguise: str) -> None:
    for text in (f"paid by {DISGUISES[disguise](number)}, thanks" for number in BY_LENGTH.values()):
        assert [letter for letter in plain(redact(text)) if letter.isdigit()] in ([], list("3912101000"))
        assert suspicious(json.dumps({"a": [text]}, ensure_ascii=False))


@pytest.mark.parametrize("text", ["㊷" * 8, "④②" * 8, "4️⃣2️⃣" * 8, "4242ㅤ4242ㅤ4242ㅤ4242"])
def test_symbols_that_stand_for_digits_are_digits(text: str) -> None:
    assert holds_card_number(text)
    assert "[redacted]" in redact(text)


@settings(deadline=None)
@given(kind=st.sampled_from(list(ORDINARY)[:-1]), draw=st.randoms(use_true_random=False))
def test_ordinary_texts_hold_none(kind: str, draw: Random) -> None:
    assert not holds_taken_card(ORDINARY[kind](draw))


@pytest.mark.parametrize(
    "text", ["GB33BUKB20201555555555 then", "FR7630006000011234567890189 then", f"a{PLAIN}b{'0' * 14}"]
)
def test_account_numbers_and_hex_ids_hold_none(text: str) -> None:
    assert not holds_card_number(text)


@pytest.mark.parametrize(("account", "check"), [("GB{}BUKB36006666333344", 44), ("DE{} 4242 4242 4242 4242 42", 95)])
def test_an_account_number_hides_one_only_by_its_check_digits(account: str, check: int) -> None:
    assert not holds_card_number(f"{account.format(check)} then")
    assert holds_card_number(f"{account.format(check + 1)} then")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_card_is_taken_out_however_programs_quote_it(shape: str) -> None:
    text = SHAPES[shape](NUMBER, SOURCE_CVC)
    assert suspicious(text)
    assert list(findings(redact(f"cannot take {text} now").encode())) == []


@pytest.mark.long
@settings(deadline=None, max_examples=500)
@given(answer=ANSWERS)
def test_from_what_a_receiver_answers_the_same_is_taken_out_as_from_any_text(answer: str) -> None:
    assert redact_bytes(answer.encode("latin-1")) == redact(answer).encode("latin-1")


def calls_to_look_through(text: str) -> int:
    """Return how many functions and generators are entered until it is known whether a text holds a card number."""
    count = 0

    def note(_frame: object, event: str, _of: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        assert not holds_card_number(text)
    finally:
        sys.setprofile(before)
    return count


def test_twice_as_many_ids_that_hold_a_card_number_take_twice_as_many_steps() -> None:
    # A hex ID of 24 digits.
    holding = f"{PLAIN}abcdefab "
    assert calls_to_look_through(holding * 400) < 3 * calls_to_look_through(holding * 200)


@pytest.mark.long
@pytest.mark.parametrize("long", [lambda n: "cvc" + " " * n, lambda n: "cvc" + "%5d" * n, lambda n: "1 " * n])
def test_long_texts_are_read_through_once(long: Callable[[int], str]) -> None:
    """With time that grew as the square of the length this would not end."""
    redact(long(300_000))
    holds_card_number(long(300_000))


OWN_ID = "req_01a2120474037758942721da01a1675e"
PIECES = st.sampled_from(
    [OWN_ID, OWN_ID[:-1] + "0", OWN_ID[4:], OWN_ID[4:-5], NUMBER, NUMBER[:7], "4242", "0", " ", "-", ":", ",", '"', "a"]
)


@pytest.mark.parametrize("text", [OWN_ID, f'"{OWN_ID}"', f"{OWN_ID} 4242", f"1 {OWN_ID}"])
def test_digits_within_our_own_ids_are_not_searched_further(text: str) -> None:
    assert redact(text) == text
    assert not suspicious(json.dumps([text]))


@pytest.mark.long
@settings(deadline=None, max_examples=500)
@given(pieces=st.lists(PIECES, max_size=8))
def test_what_would_be_redacted_is_found_first_also_beside_our_own_ids(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert redact(text) == text or suspicious(json.dumps([text]))
