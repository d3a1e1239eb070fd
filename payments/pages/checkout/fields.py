"""The fields of a checkout: their attributes in the page, and what a payer may write into them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from payments.sensitive_data.luhn import luhn_valid

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

CARD_NUMBER_DIGITS = 16
EMAIL_MAX_LENGTH = 254
NAME_MAX_LENGTH = 50
CENTURY, MONTHS = 2000, 12
PHONE_DIGITS = 5
# The hyphens and slashes that people and their keyboards write.
HYPHENS, SLASHES = "\\-\u2010-\u2015\u2212", "/\u2044\u2215\uff0f"
SEPARATORS = re.compile(rf"[\s{HYPHENS}]")
BETWEEN = rf"[ .{HYPHENS}{SLASHES}]{{0,7}}"
EXPIRY = re.compile(rf"([0-9]{{1,2}}){BETWEEN}(?:20)?([0-9]{{2}})")
EXPIRY_BY_YEAR = re.compile(rf"20([0-9]{{2}}){BETWEEN}([0-9]{{1,2}})")
POSTAL_CODE_OF_HOME = re.compile(r"[0-9]{4}")


class Wrong(Exception):
    """An error: what was written is not what the field asks for; its text says what is."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A field of a form. `missing` says what to do where nothing is written; empty, the field may stay so.

    `check` returns the value as it is used, and raises Wrong. What is written into a `secret` field is not shown again.
    """

    name: str
    label: "StrOrPromise"
    autocomplete: str
    missing: "StrOrPromise" = ""
    check: Callable[[str], str] = str
    max_length: int = 255
    type: str = "text"
    inputmode: str = ""
    placeholder: str = ""
    mark: str = ""
    secret: bool = False


# What the fields in frames say too, where what is written is too short, or cannot be right.
ALL_DIGITS = _("Write all 16 digits. Cards with fewer, such as American Express, are not taken here")
DIGIT_DIFFERS = _("Compare the number with your card: a digit is not the same")
MONTH_AND_YEAR = _("Write month and year as on your card, for example 08 / 29")
EXPIRED = _("This card has expired. Compare the date with your card, or use another card")
ALL_OF_CVC = _("Write the 3 digits on the back, for example 123")


def check_number(text: str) -> str:
    """Return the digits of a card number, which may stand in groups."""
    digits = SEPARATORS.sub("", text)
    if not (digits.isascii() and digits.isdigit()):
        raise Wrong(_("Write the digits on your card, for example 4242 4242 4242 4242"))
    if len(digits) < CARD_NUMBER_DIGITS:
        raise Wrong(ALL_DIGITS)
    if len(digits) > CARD_NUMBER_DIGITS:
        raise Wrong(_("Write 16 digits, for example 4242 4242 4242 4242"))
    if not luhn_valid(digits):
        raise Wrong(DIGIT_DIFFERS)
    return digits


def check_expiry(text: str, now: datetime) -> str:
    """Return an expiry date as `MM/YYYY`; the card is good to the end of that month."""
    found, by_year = EXPIRY.fullmatch(text), EXPIRY_BY_YEAR.fullmatch(text)
    month, year = (int(found[1]), CENTURY + int(found[2])) if found else (0, 0)
    if by_year and not 1 <= month <= MONTHS:
        month, year = int(by_year[2]), CENTURY + int(by_year[1])
    if not 1 <= month <= MONTHS:
        raise Wrong(MONTH_AND_YEAR)
    if (year, month) < (now.year, now.month):
        raise Wrong(EXPIRED)
    return f"{month:02}/{year}"


def check_cvc(text: str) -> str:
    """Return a security code."""
    if not re.fullmatch("[0-9]{3,4}", text):
        raise Wrong(ALL_OF_CVC)
    return text


def check_email(text: str) -> str:
    """Return an e-mail address."""
    try:
        validate_email(text)
    except ValidationError:
        raise Wrong(_("Write the whole address, for example maria@example.com")) from None
    return text


def check_phone(text: str) -> str:
    """Return a telephone number as it was written."""
    if sum(map(str.isdecimal, text)) < PHONE_DIGITS:
        raise Wrong(_("Write a number with its area code, for example 0917 555 0142"))
    return text


NUMBER = Field(
    "number",
    _("Card number"),
    "cc-number",
    _("Write the number on your card"),
    check_number,
    max_length=23,
    inputmode="numeric",
    placeholder="1234 1234 1234 1234",
    mark="card",
    secret=True,
)
EXPIRES = Field(
    "expiry",
    _("Expiry (MM / YY)"),
    "cc-exp",
    _("Write month and year as on your card, for example 08 / 29"),
    max_length=9,
    inputmode="numeric",
    placeholder="MM / YY",
    secret=True,
)
CVC = Field(
    "cvc",
    _("CVC"),
    "cc-csc",
    _("Write the 3 digits on the back, for example 123"),
    check_cvc,
    max_length=4,
    inputmode="numeric",
    placeholder="123",
    mark="cvc",
    secret=True,
)
HOLDER = Field("holder", _("Name on card"), "cc-name", _("Write the name on your card"), max_length=NAME_MAX_LENGTH)
CARD = (NUMBER, EXPIRES, CVC, HOLDER)

NAME = Field("name", _("Full name"), "name", _("Write your name"), max_length=NAME_MAX_LENGTH)
EMAIL = Field(
    "email",
    _("E-mail"),
    "email",
    _("Write your e-mail address, for example maria@example.com"),
    check_email,
    max_length=EMAIL_MAX_LENGTH,
    type="email",
    inputmode="email",
)
RECEIPT_EMAIL = replace(EMAIL, label=_("E-mail for the receipt (optional)"), missing="")
PHONE_NUMBER = Field(
    "phone",
    _("Mobile number"),
    "tel",
    _("Write your mobile number, for example 0917 555 0142"),
    check_phone,
    max_length=25,
    type="tel",
    inputmode="tel",
    placeholder="0917 555 0142",
)

# The members of an address, in the order of the page.
ADDRESS = (
    Field("name", _("Full name"), "name", _("Write a name")),
    Field("line1", _("Street address"), "address-line1", _("Write street and number")),
    Field("line2", _("Unit, building (optional)"), "address-line2"),
    Field("barangay", _("Barangay"), "address-level3"),
    Field("city", _("City or municipality"), "address-level2", _("Write the city or municipality")),
    Field("state", _("Province"), "address-level1"),
    Field("postal_code", _("Postal code"), "postal-code", max_length=20),
)


def check_postal_code(text: str, country: str, home: str) -> None:
    """Raise Wrong for a postal code that the `home` country does not have; of others the form is not known."""
    if text and country == home and not POSTAL_CODE_OF_HOME.fullmatch(text):
        raise Wrong(_("A postal code has 4 digits, for example 1600"))
