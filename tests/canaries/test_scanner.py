"""Proof that the scanner finds cards, without which its silence proves nothing."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable

import pytest

from tests.canaries.marks import CHARGE_CVC, SHAPES, SOURCE_CVC, in_groups, marked
from tests.canaries.scanner import findings

NUMBER = marked(11, 1)
FORMS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "hex": lambda data: data.hex().encode(),
    "upper hex": lambda data: data.hex().upper().encode(),
    "bytea": lambda data: b"\\x" + data.hex().encode(),
    "base64": b64encode,
    "base64, one later": lambda data: b64encode(b"x" + data),
    "base64, two later": lambda data: b64encode(b"xx" + data + b"xx"),
    "urlsafe base64": urlsafe_b64encode,
    "percent-encoded": lambda data: "".join(f"%{byte:02X}" for byte in data).encode(),
}
GROUPS = {"together": "", "spaces": " ", "dashes": "-", "no-break spaces": "\u00a0"}


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("form", FORMS)
def test_a_number_is_found_in_any_form_and_among_anything(form: str, groups: str) -> None:
    number = in_groups(NUMBER, GROUPS[groups]).encode()
    assert list(findings(b"\x00\xff 12" + FORMS[form](number) + b"34 \x80"))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_card_is_found_however_programs_quote_it(shape: str) -> None:
    assert list(findings(SHAPES[shape](NUMBER, SOURCE_CVC).encode()))


@pytest.mark.parametrize("cvc", [SOURCE_CVC, CHARGE_CVC])
@pytest.mark.parametrize("around", ["{}", "\t{}\n", "'{}'", '"{}",', "\x00{}\xff", "cvc={}&", "[{}]", "${}: ", "({})"])
def test_a_security_code_is_found_where_it_stands_alone(around: str, cvc: str) -> None:
    assert list(findings(around.format(cvc).encode("latin-1")))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ['{"cvc":"%s"}', '{"cvc": "%s"}', "{'cvc': '%s'}", "cvc=%s&x", '{"cvv":"%s"}'])
def test_a_named_security_code_is_found_in_any_form(form: str, text: str) -> None:
    assert list(findings(FORMS[form]((text % SOURCE_CVC).encode())))


@pytest.mark.parametrize(
    "text",
    [
        f"{NUMBER[:8]} … {NUMBER[-4:]}",
        f"1{SOURCE_CVC} {SOURCE_CVC}5 0.{SOURCE_CVC} 019a1fc4-{SOURCE_CVC}-7b4e-8000-000000000000",
        f"sp_01a2…{SOURCE_CVC}",
        "4242424242424242 123",
    ],
)
def test_what_may_be_shown_is_not_taken_for_a_card(text: str) -> None:
    assert list(findings(text.encode())) == []
