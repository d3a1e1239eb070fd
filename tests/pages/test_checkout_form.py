"""What payers write into the form of a checkout, and what they are asked to write instead."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from payments.names import first_not_allowed, tidied
from payments.pages.checkout.context import shown_form
from payments.pages.checkout.form import Asked, PayForm, blank, read

NOW = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)
CARD = Asked(("card", "gcash"))
ALL = Asked(("gcash",), email=True, name=True, phone=True, billing=True, countries=("PH", "SG"))
NUMBER = "4242 4242 4242 4242"
WRITTEN = {"way": "card", "number": NUMBER, "expiry": "08 / 29", "cvc": "123", "holder": "Maria Santos"}
SHIPPING = {
    "shipping-name": "Maria Santos",
    "shipping-line1": "24 Mabini Street",
    "shipping-line2": "Unit 3B",
    "shipping-barangay": "San Antonio",
    "shipping-city": "Pasig",
    "shipping-state": "Metro Manila",
    "shipping-postal_code": "1600",
    "shipping-country": "PH",
}
CONTACT = {"way": "gcash", "email": "maria@example.com", "name": "María Peña", "phone": "0917 555 0142"}
WHOLE = {**CONTACT, **SHIPPING, "same": "1"}


def card_of(**written: str) -> PayForm:
    return read({**WRITTEN, **written}, CARD, NOW)


@pytest.mark.parametrize(
    "number",
    [
        "4242424242424242",
        NUMBER,
        "4242-4242-4242-4242",
        " 4242\u00a04242 42424242 ",
        "4242\u20134242\u20134242\u20134242",
    ],
)
def test_a_number_may_be_written_in_groups(number: str) -> None:
    form = card_of(number=number)
    assert form.errors == {}
    assert form.card == {
        "name": "Maria Santos",
        "number": "4242424242424242",
        "exp_month": "08",
        "exp_year": "2029",
        "cvc": "123",
    }


@pytest.mark.parametrize(
    ("expiry", "month", "year"),
    [
        ("08 / 29", "08", "2029"),
        ("8/29", "08", "2029"),
        ("0829", "08", "2029"),
        ("08/2029", "08", "2029"),
        ("082029", "08", "2029"),
        ("08-29", "08", "2029"),
        ("8 29", "08", "2029"),
        ("829", "08", "2029"),
        ("1/29", "01", "2029"),
        ("2029-03", "03", "2029"),
        ("2029/3", "03", "2029"),
        ("202903", "03", "2029"),
        ("08\u201329", "08", "2029"),
        ("8\uff0f2029", "08", "2029"),
        # The last month of which the card is good.
        ("11/26", "11", "2026"),
    ],
)
def test_an_expiry_date_may_be_written_in_many_ways(expiry: str, month: str, year: str) -> None:
    form = card_of(expiry=expiry)
    assert form.card
    assert (form.errors, form.card["exp_month"], form.card["exp_year"]) == ({}, month, year)


@pytest.mark.parametrize(
    ("field", "written", "says"),
    [
        ("number", "", "number on your card"),
        ("number", "4242 4242", "all 16 digits"),
        ("number", "378282246310005", "American Express"),
        ("number", "4242 4242 4242 4241", "a digit is not the same"),
        ("number", "4242 4242 4242 4242 42", "Write 16 digits"),
        ("number", "４２４２ 4242 4242 4242", "for example 4242"),
        ("number", "my card", "for example 4242"),
        ("expiry", "", "for example 08 / 29"),
        ("expiry", "13/29", "for example 08 / 29"),
        ("expiry", "00/29", "for example 08 / 29"),
        ("expiry", "10/26", "has expired"),
        ("expiry", "2029", "for example 08 / 29"),
        ("expiry", "soon", "for example 08 / 29"),
        ("cvc", "", "for example 123"),
        ("cvc", "12", "for example 123"),
        ("cvc", "12a", "for example 123"),
        ("holder", "", "name on your card"),
        ("holder", "!?", "for example Maria Santos"),
        ("holder", "\U0001f642", "for example Maria Santos"),
        ("holder", "x" * 51, "at most 50 characters"),
        ("holder", NUMBER, "only safe in the field for it"),
    ],
)
def test_what_a_card_cannot_be_is_answered_in_words_that_help(field: str, written: str, says: str) -> None:
    form = card_of(**{field: written})
    assert [*form.errors] == [field]
    assert says in form.errors[field]
    assert "invalid" not in form.errors[field].lower()


@pytest.mark.parametrize(
    "phone", ["0917 555 0142", "+639175550142", "(+63) 917 555 0142", "(02) 8555-0142 loc 12", "63-2/8555.0142"]
)
def test_a_telephone_may_be_written_as_people_do(phone: str) -> None:
    assert read({"way": "gcash", "phone": phone}, Asked(("gcash",), phone=True), NOW).payer == {"phone": phone}


def test_what_the_shop_gave_is_taken_as_the_api_took_it() -> None:
    asked = Asked(("gcash",), phone=True, known={"phone": "ask Juan"})
    assert read({"way": "gcash", "phone": "ask Juan"}, asked, NOW).payer == {"phone": "ask Juan"}


@pytest.mark.parametrize(
    ("field", "written", "says"),
    [
        ("email", "maria.santos@", "for example maria@example.com"),
        ("email", "", "for example maria@example.com"),
        ("email", f"{'x' * 250}@example.com", "at most 254"),
        ("name", "", "Write your name"),
        ("phone", "12", "for example 0917 555 0142"),
        ("phone", "call me", "for example 0917 555 0142"),
        ("shipping-name", " ", "Write a name"),
        ("shipping-line1", "", "street and number"),
        ("shipping-line1", f"24 Mabini {NUMBER}", "only safe in the field for it"),
        ("shipping-city", "", "city or municipality"),
        ("shipping-postal_code", "16000", "4 digits"),
    ],
)
def test_what_a_payer_cannot_be_reached_at_is_answered_in_words_that_help(field: str, written: str, says: str) -> None:
    form = read({**WHOLE, field: written}, ALL, NOW)
    assert [*form.errors] == [field]
    assert says in form.errors[field]


def test_a_whole_form_says_who_pays_and_where_to_it_is_sent() -> None:
    form = read(WHOLE, ALL, NOW)
    address = {name.partition("-")[2]: text for name, text in SHIPPING.items()}
    assert form.errors == {}
    assert form.payer == {
        "name": "María Peña",
        "email": "maria@example.com",
        "phone": "0917 555 0142",
        "shipping": address,
        "billing": address,
    }
    assert form.owner
    assert form.owner["name"] == "María Peña"
    assert form.owner["billing"]["email"] == "maria@example.com"
    assert form.owner["shipping"]["line2"] == "Unit 3B, San Antonio"


def test_another_billing_address_is_read_where_it_is_not_the_same() -> None:
    billing = {name.replace("shipping", "billing"): text for name, text in SHIPPING.items()}
    written = {**CONTACT, **SHIPPING, **billing, "billing-country": "DE", "billing-postal_code": "10115"}
    form = read(written, ALL, NOW)
    assert form.errors == {}
    assert form.payer["billing"]["country"] == "DE"
    assert form.payer["shipping"]["country"] == "PH"


def test_a_country_to_which_nothing_is_sent_is_not_taken() -> None:
    assert read({**WHOLE, "shipping-country": "DE"}, ALL, NOW).payer["shipping"]["country"] == "PH"


def test_what_is_not_asked_for_is_not_kept() -> None:
    form = read({**WHOLE, **WRITTEN, "way": "gcash", "amount": "1"}, Asked(("gcash",)), NOW)
    assert (form.payer, form.card, form.owner) == ({}, None, None)


@pytest.mark.parametrize("way", ["", "bitcoin", "maya"])
def test_a_way_that_is_not_offered_is_asked_for_again(way: str) -> None:
    assert "way" in read({**WRITTEN, "way": way}, CARD, NOW).errors


@pytest.mark.parametrize("name", ["\u202ealoP", "Paula\u200f", "Pau\nla", "Paula\x00"])
def test_no_invisible_character_is_kept(name: str) -> None:
    assert read({**WHOLE, "name": name}, ALL, NOW).payer["name"].isprintable()


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("María Peña Ünal", "María Peña Ünal"),
        ("D’Angelo–Cruz & Co. ٣ 🙂", "D'Angelo-Cruz  Co. 3"),
        ("n\u0303" * 50, "ñ" * 50),
    ],
)
def test_a_name_keeps_its_letters(typed: str, kept: str) -> None:
    assert tidied(typed, 50) == kept
    assert first_not_allowed(kept) == ""


def test_of_a_picture_no_name_is_made() -> None:
    assert list(read({**WRITTEN, "holder": "🙂"}, CARD, NOW).errors) == ["holder"]


def test_no_card_number_and_no_security_code_is_shown_again() -> None:
    form = read({**WRITTEN, "number": "4242 4242 4242 4241", "cvc": "987", "holder": NUMBER}, CARD, NOW)
    # Without the addresses of objects, whose digits are anybody's guess.
    shown = re.sub("0x[0-9a-f]+", "", str(shown_form(CARD, form)))
    assert "4242 4242 4242 4241" not in shown
    assert "987" not in shown
    assert NUMBER not in shown.replace("for example 4242 4242 4242 4242", "")


def test_the_first_wrong_field_has_the_cursor_and_the_message_counts_them() -> None:
    shown = shown_form(ALL, read({**WHOLE, "email": "", "shipping-city": ""}, ALL, NOW))
    assert shown["problem"].title == "Please check 2 fields"
    assert [box.name for box in shown["contact"] if box.is_first_wrong] == ["email"]


def test_what_is_known_is_folded_until_something_in_it_is_wrong() -> None:
    known = Asked(("card",), name=True, countries=("PH",), known={"name": "Maria", **SHIPPING})
    assert shown_form(known, blank(known))["shipping"]["known"] == "Maria Santos, 24 Mabini Street, Pasig"
    assert shown_form(known, blank(known))["contact_known"] == "Maria"
    wrong = read({**SHIPPING, "name": "Maria", "way": "card", "shipping-city": ""}, known, NOW)
    assert shown_form(known, wrong)["shipping"]["known"] == ""


def test_errors_are_in_the_language_of_the_page() -> None:
    with override("fil"):
        assert card_of(cvc="").errors["cvc"].startswith("Isulat ang 3 numero")


@pytest.mark.long
@given(st.dictionaries(st.sampled_from([*WRITTEN, *WHOLE]), st.text(max_size=300)))
def test_whatever_is_written_is_taken_or_answered(written: dict[str, Any]) -> None:
    both = Asked(("card", "gcash"), email=True, name=True, phone=True, billing=True, countries=("PH",))
    form = read(written, both, NOW)
    assert shown_form(both, form)
    assert all(text and "invalid" not in text.lower() for text in form.errors.values())


def test_an_address_that_the_shop_gave_is_not_asked_for_and_is_the_owner_s() -> None:
    asked = Asked(("gcash",), known={"email": "maria@example.com"})
    assert asked.contact == []
    form = read({"way": "gcash"}, asked, NOW)
    assert form.owner == {"billing": {"email": "maria@example.com"}}
    assert form.payer == {}
