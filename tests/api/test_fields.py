"""Each kind of field takes what the contract says, to the last character, and names the fault by its code."""

import re
import unicodedata
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError

from payments import clock
from payments.api.responses.errors import faults_of
from payments.api.validation.fields import (
    CardNumber,
    Currency,
    Email,
    NameSafe,
    OneOf,
    PlainText,
    StrictField,
    Url,
)
from payments.api.validation.metadata import Metadata
from payments.api.validation.query_fields import QueryBoolean, QueryInteger, QueryMoment
from payments.api.validation.serializers import CardInput
from payments.names import first_not_allowed, is_letter

NAME = NameSafe(max_length=5)


def code_of(field: StrictField, value: Any) -> str | None:
    """Return the code of the fault that `field` finds in `value`, None when it takes it."""
    try:
        field.run_validation(value)
    except ValidationError as refused:
        [fault] = refused.detail
        return str(fault.code)
    return None


@pytest.mark.parametrize(
    "value", ["a", "Z9 '#", "_.-,", "a\tb", "a\nb", " ", "12345", "Peñaé", "李小龍", "Ελένη", "रवि", "ａ"]
)
def test_a_name_safe_string_is_taken_as_it_is(value: str) -> None:
    assert NAME.run_validation(value) == value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("", "too_short"),
        ("123456", "too_long"),
        ("a\n", "pattern"),
        ("\n", "pattern"),
        ("🙂", "pattern"),
        ("٣", "pattern"),
        ("a\u00a0b", "pattern"),
        ("a\u2028", "pattern"),
        ("a<b", "pattern"),
        ('"', "pattern"),
        ("\\", "pattern"),
    ],
)
def test_a_string_beyond_p_is_refused(value: Any, code: str) -> None:
    assert code_of(NAME, value) == code


def test_letters_are_kept_and_counted_in_their_composed_form() -> None:
    assert NAME.run_validation(unicodedata.normalize("NFD", "ÑÑÑÑÑ")) == "ÑÑÑÑÑ"


@pytest.mark.parametrize(
    ("value", "character"), [("Ñ<b>", "< (U+003C)"), ("a\u00a0b", "U+00A0"), ("Ana\n", "U+000A"), ("1٣", "٣ (U+0663)")]
)
def test_a_fault_names_the_first_character_that_is_not_allowed(value: str, character: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(f"but not {character}.")):
        NAME.run_validation(value)


@pytest.mark.parametrize("value", ["Niño", "é", "ａ"])
def test_what_goes_to_schemes_stays_ascii(value: str) -> None:
    assert code_of(PlainText(max_length=5), value) == "pattern"


@settings(deadline=None)
@given(text=st.text(min_size=1))
def test_the_documented_pattern_has_all_that_is_taken_in_every_engine(text: str) -> None:
    pattern = NAME.schema()["pattern"]
    assert pattern.isascii()
    assert "\\p" not in pattern
    letters = "".join(letter for letter in unicodedata.normalize("NFC", text) if is_letter(letter))
    assert not letters or re.match(pattern, letters)
    if text.isascii():
        assert bool(re.fullmatch(pattern[1:-1], text)) == (first_not_allowed(text) == "")


@pytest.mark.parametrize(
    "value",
    [
        "https://example.com",
        "HTTP://Example.COM/",
        "http://localhost:8000/a",
        "http://web:1/",
        "https://127.0.0.1/",
        "https://[::1]:8443/x",
        "https://user:pass@shop.example/return?a=1&b=%C3%A9;c=(x)*[y]#part",
        "https://a-b.c_d.example./",
        "https://xn--bcher-kva.example/100%",
        "https://example.com/" + "a" * (2083 - 20),
    ],
)
def test_an_absolute_web_address_is_taken_as_it_is(value: str) -> None:
    assert Url().run_validation(value) == value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("", "too_short"),
        ("https://example.com/" + "a" * (2083 - 19), "too_long"),
        *(
            (value, "invalid_url")
            for value in [
                "example.com",
                "/return",
                "//example.com/",
                "https:",
                "https://",
                "https:///path",
                "https://:443/",
                "https://user@/",
                "ftp://example.com/",
                "javascript:alert(1)",
                "javascript://example.com/%0Aalert(1)",
                "data:text/html,x",
                " https://example.com",
                "https://example.com\n",
                "https://exa\tmple.com",
                "https://example.com/a b",
                "https://example.com/\x7f",
                "https://example.com/é",
                "https://éxample.com/",
                "https://example.com\\@evil.example/",
                "https://example.com/<script>",
                "https://-a.example/",
                "https://a..example/",
                "https://a%2e.example/",
                "https://" + "a" * 64 + ".example/",
                "https://" + "a." * 130 + "example/",
                "https://example.com:0/",
                "https://example.com:65536/",
                "https://example.com:port/",
                "https://[::1/",
                "https://[::g]/",
                "https://[127.0.0.1]/",
                "https://[v1.x]/",
                "https://::1/",
            ]
        ),
    ],
)
def test_what_is_no_absolute_web_address_is_refused(value: str, code: str) -> None:
    assert code_of(Url(), value) == code


@pytest.mark.parametrize("value", ["a@example.com", "first.last+tag@mail.example.co", "a@" + "b" * 63 + ".example"])
def test_an_email_address_is_taken_as_it_is(value: str) -> None:
    assert Email().run_validation(value) == value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("", "too_short"),
        ("a" * 250 + "@b.co", "too_long"),
        *(
            (value, "invalid_email")
            for value in ["a", "a@", "@b.co", "a@b", "a b@c.co", "a@b.co\n", "a@b.co,c@d.co", '"\x01"@b.co', "a@b..co"]
        ),
    ],
)
def test_what_is_no_email_address_is_refused(value: str, code: str) -> None:
    assert code_of(Email(), value) == code


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("", "too_short"),
        ("P", "too_short"),
        ("PESOS", "too_long"),
        ("P€P", "pattern"),
        ("P%P", "pattern"),
        ("PHP\n", "pattern"),
        ("ıNR", "pattern"),
        ("PH", "invalid_choice"),
        ("PHPP", "invalid_choice"),
        (" PHP", "invalid_choice"),
        ("ZZZ", "invalid_choice"),
        ("608", "invalid_choice"),
        ("XXX", "invalid_choice"),
        ("XTS", "invalid_choice"),
        ("XAU", "invalid_choice"),
    ],
)
def test_what_money_cannot_be_counted_in_is_no_currency(value: str, code: str) -> None:
    assert code_of(Currency(), value) == code


@pytest.mark.parametrize("value", ["b", "A", "a ", ""])
def test_a_choice_is_exact(value: str) -> None:
    assert code_of(OneOf(["a"]), value) == "invalid_choice"


@pytest.mark.parametrize(("month", "faults"), [("2", []), ("1", ["card_expired"])])
def test_a_card_is_good_until_its_last_month_is_over(month: str, faults: list[str]) -> None:
    card = {"name": "Juan", "number": "4242424242424242", "exp_month": month, "exp_year": "2028", "cvc": "123"}
    asked = CardInput(data=card)
    with clock.at(datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC)):
        asked.is_valid()
    assert [fault.type for fault in faults_of(asked.errors, ("body",))] == faults


def objects(depth: int) -> dict[str, Any]:
    return {"a": objects(depth - 1)} if depth > 1 else {}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({str(number): number for number in range(51)}, "too_many"),
        ({"a": "x" * (16 * 1024 - 7)}, "too_long"),
        ({"a": "é" * 8192}, "too_long"),
        (objects(6), "too_deep"),
        ({"a": [[[[[]]]]]}, "too_deep"),
    ],
)
def test_metadata_beyond_its_bounds_is_refused(value: Any, code: str) -> None:
    assert code_of(Metadata(), value) == code


@pytest.mark.parametrize("wrong", ["", "x" * 41])
@pytest.mark.parametrize("path", [[], ["a"], ["a", "0"], ["a", "b", "c", "d"]])
def test_a_name_in_metadata_is_bounded_at_every_depth_and_the_fault_names_it(wrong: str, path: list[str]) -> None:
    value: Any = {wrong: 1, "right": 2}
    for name in reversed(path):
        value = [value] if name.isdigit() else {name: value}
    with pytest.raises(ValidationError) as refused:
        Metadata().run_validation(value)
    [fault] = faults_of(refused.value.detail, ("body", "metadata"))
    assert (fault.loc, fault.type) == (("body", "metadata", *path, wrong), "bad_name")


@pytest.mark.parametrize(
    "field", [NameSafe(max_length=10**6), Url(), Email(), Currency(), CardNumber(), OneOf(["a"]), Metadata()]
)
@pytest.mark.parametrize("unit", ["a", "\n", ".a", "@", "-", "https://", '"', "4 "])
def test_a_text_as_long_as_a_body_is_refused(field: StrictField, unit: str) -> None:
    assert code_of(field, unit * (65_536 // len(unit)) + "\n") is not None


@pytest.mark.parametrize(
    ("field", "value", "result"),
    [
        (QueryInteger(min_value=1, max_value=100), "020", 20),
        (QueryInteger(min_value=0, max_value=100), "0" * 1000, 0),
        (QueryBoolean(), "true", True),
        (QueryBoolean(), "false", False),
        (QueryMoment(), "2026-11-21", datetime(2026, 11, 21, tzinfo=UTC)),
        (QueryMoment(), "2026-11-21T01:43", datetime(2026, 11, 21, 1, 43, tzinfo=UTC)),
        (QueryMoment(), "2026-11-21T01:43:00.123456Z", datetime(2026, 11, 21, 1, 43, 0, 123456, tzinfo=UTC)),
        (QueryMoment(), "2026-11-21T01:43:00+08:00", datetime(2026, 11, 20, 17, 43, tzinfo=UTC)),
    ],
)
def test_query_texts_become_values(field: StrictField, value: str, result: Any) -> None:
    assert field.run_validation(value) == result


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        *(
            (QueryInteger(min_value=1, max_value=100), text, "invalid_type")
            for text in ["", "1.0", "-", "--1", "٣", " 1", "x"]
        ),
        (QueryInteger(min_value=1, max_value=100), "101", "too_big"),
        *((QueryInteger(min_value=1, max_value=100), text, "too_small") for text in ["0", "-1", "-100"]),
        (QueryInteger(min_value=1, max_value=100), "9" * 5000, "invalid_type"),
        *((QueryBoolean(), text, "invalid_type") for text in ["True", "1", "", "yes"]),
        *(
            (QueryMoment(), text, "invalid_moment")
            for text in [
                "",
                "now",
                "1795225380",
                "2026-13-01",
                "2026-02-30T00:00:00Z",
                "2026-11-21 01:43:00",
                "2026-11-21T25:00:00Z",
                "0000-01-01",
                "9999-12-31T23:59:59-12:00",
                "0001-01-01T00:00:00+14:00",
                "2026-11-21T01:43:00+99:00",
            ]
        ),
    ],
)
def test_query_texts_that_mean_nothing_are_refused(field: StrictField, value: str, code: str) -> None:
    assert code_of(field, value) == code
