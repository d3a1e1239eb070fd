"""Amounts and times as spreadsheets, banks and providers of many countries write them."""

import re
from datetime import UTC, datetime
from unicodedata import category

from payments.domain.reconciliation import cells
from payments.domain.reconciliation.cells import write_amount

MAX_LENGTH = 60
# Blanks, apostrophes and minus signs by other characters.
ODD = str.maketrans({"\xa0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'", "\u2212": "-", "\u2013": "-"})
# A sign before or after the number, also as accountants write it: in parentheses, or as a side.
AMOUNT_WITH_UNITS = re.compile(
    r"([-+]?) ?([A-Z]{3}|[^\w\s.,'()+-]{1,2})? ?([-+]?) ?(\()?([0-9.,' ]*[0-9][.,]?)(\))? ?([-+]|[Cc][Rr]|[Dd][Rr])?"
    r" ?([A-Z]{3}|[^\w\s.,'()+-]{1,2})?"
)
# By the sign of decimals, numbers with thousands in groups of three, or of two as in India.
NUMBERS = {
    ".": re.compile(r"([1-9][0-9]{0,2}(?:[,' ][0-9]{2,3})*[,' ][0-9]{3}|[0-9]*)(?:\.([0-9]*))?"),
    ",": re.compile(r"([1-9][0-9]{0,2}(?:[.' ][0-9]{2,3})*[.' ][0-9]{3}|[0-9]*)(?:,([0-9]*))?"),
}
GROUPS = re.compile(r"[.,' ]")
UNITS = {"₱": "PHP", "€": "EUR", "₹": "INR", "฿": "THB", "₫": "VND"}
NEGATIVE = {"-", "(", "DR"}
ISO = "iso"
# The forms of days, each with an example. A time may follow one.
DATES = {
    ISO: "2026-11-30, 2026-11-30 14:05:00 or 2026-11-30T14:05:00Z",
    "%d/%m/%Y": "30/11/2026",
    "%m/%d/%Y": "11/30/2026",
    "%d.%m.%Y": "30.11.2026",
    "%d-%m-%Y": "30-11-2026",
    "%m-%d-%Y": "11-30-2026",
    "%Y/%m/%d": "2026/11/30",
    "%d/%m/%y": "30/11/26",
    "%m/%d/%y": "11/30/26",
    "%d.%m.%y": "30.11.26",
    "%d %b %Y": "30 Nov 2026",
    "%d-%b-%Y": "30-Nov-2026",
    "%d-%b-%y": "30-Nov-26",
    "%b %d, %Y": "Nov 30, 2026",
    "%d %B %Y": "30 November 2026",
    "%B %d, %Y": "November 30, 2026",
}
# As ISO has it between a day and a time.
BETWEEN = re.compile(r"(?<=[0-9])T(?=[0-9])")
TIMES = ("", " %H:%M:%S", " %H:%M", " %I:%M %p", " %I:%M:%S %p", " %H:%M:%S%z", " %H:%M:%S %z", " %H:%M:%S.%f")


class Typed(str):
    """A number or a time that a spreadsheet has as such, in the form of ISO: `-18.5`, `2026-11-30`."""

    __slots__ = ()


def read_amount(text: str, currency: str, decimal: str) -> int:
    """Return the signed amount in the smallest unit of `currency`, such as `-1.234,56`, `(12.00)` and `12.00 DR`.

    Raise ValueError.
    """
    signs, digits = _parts(text, currency, decimal)
    if signs is None:
        example = write_amount(123450, currency).replace(".", decimal)
        raise ValueError(f"must be an amount of {currency}, such as {example}")
    amount = cells.read_amount(digits, currency)
    return -amount if signs & NEGATIVE else amount


def is_amount(text: str, decimal: str) -> bool:
    """Return whether `text` may be an amount of some currency."""
    return _parts(text, "", decimal)[0] is not None


def is_negative(text: str, decimal: str) -> bool:
    """Return whether `text` is an amount below zero."""
    return bool((_parts(text, "", decimal)[0] or set()) & NEGATIVE)


def read_time(text: str, form: str) -> datetime:
    """Return the moment in a cell, in UTC where it has no zone; raise ValueError. `form` is one of DATES."""

    def parse(text: str) -> datetime:
        if form == ISO or isinstance(text, Typed):
            return datetime.fromisoformat(text.strip())
        blanks = form.count(" ") + 1
        words = BETWEEN.sub(" ", text).split()
        whole, count = " ".join(words), len(words) - blanks
        for time in TIMES:
            # A format with another number of words cannot be the one.
            if time.count(" ") == count:
                try:
                    return datetime.strptime(whole, form + time)  # noqa: DTZ007  the zone follows below
                except ValueError:
                    continue
        raise ValueError

    moment = cells.read_moment(text, parse, DATES[form])
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _parts(text: str, currency: str, decimal: str) -> tuple[set[str] | None, str]:
    """Return the signs of a number and its digits with a decimal point; None for no number, or one with two signs."""
    found = AMOUNT_WITH_UNITS.fullmatch(text.translate(ODD).strip()) if len(text) <= MAX_LENGTH else None
    if not found or bool(found[4]) != bool(found[6]):
        return None, ""
    signs = [sign.upper() for sign in (found[1], found[3], found[4], found[7]) if sign]
    units = [unit for unit in (found[2], found[8]) if unit]
    number = NUMBERS["." if isinstance(text, Typed) else decimal].fullmatch(found[5])
    if not number or len(signs) > 1 or len(units) > 1 or not all(_is_unit(unit, currency) for unit in units):
        return None, ""
    whole, rest = GROUPS.sub("", number[1]).lstrip("0"), (number[2] or "").rstrip("0")
    return {*signs}, f"{whole or '0'}{'.' if rest else ''}{rest}"


def _is_unit(text: str, currency: str) -> bool:
    code = UNITS.get(text, text)
    return currency in ("", code) if code.isalpha() else all(category(sign) == "Sc" for sign in text)
