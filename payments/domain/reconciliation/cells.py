"""Readers of a settlement report's cells; each raises ValueError with what the cell should hold."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from payments.money import DECIMALS

DECIMAL = re.compile(r"([+-]?)([0-9]{1,14}(?:\.[0-9]{1,6})?)")
# U+FFFD stands for bytes that are not UTF-8.
PRINTABLE = re.compile(r"[^\x00-\x1f\x7f-\x9f\ufffd]{0,255}")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9 _-]{0,39}")
# Moments of other years are mistakes, and the first and the last that there are cannot be shown in every time zone.
YEARS = range(2000, 2100)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One row of a report: its cells by the names of their columns."""

    cells: Mapping[str, str]

    def read(self, column: str, read: Callable[[str], Value]) -> Value:
        """Return what `read` makes of a cell. Raises ValueError with the column's name."""
        try:
            return read(self.cells[column])
        except ValueError as fault:
            raise ValueError(f"column {column}: {fault}") from None

    def first_of(self, columns: Sequence[str]) -> str:
        """Return the first of these references that is not empty, or an empty one."""
        return next(filter(None, (self.read(column, read_reference) for column in columns)), "")


def read_reference(text: str) -> str:
    """Return a reference, which may be anybody's free text: exports make formulas harmless."""
    if not PRINTABLE.fullmatch(text):
        raise ValueError("must be up to 255 printable characters in UTF-8")
    return text


def read_word(text: str) -> str:
    """Return a provider's word for a kind of movement, known or not, without blanks around it."""
    word = text.strip(" ")
    if not WORD.fullmatch(word):
        raise ValueError("must be a word of up to 40 letters and digits")
    return word


def read_currency(text: str) -> str:
    if text not in DECIMALS:
        raise ValueError("must be a currency by ISO 4217 in capital letters, such as PHP")
    return text


def read_signed(text: str, currency: str) -> tuple[str, int]:
    """Return the sign as it is written, and the amount in the currency's smallest unit."""
    decimals = DECIMALS[currency]
    match = DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError(f"must be an amount of {currency} in digits, such as {write_amount(1850, currency)}")
    amount = Decimal(match[2]).scaleb(decimals)
    if amount != amount.to_integral_value():
        raise ValueError(f"must be an amount of {currency} with {decimals} decimals at most")
    return match[1], int(amount)


def read_amount(text: str, currency: str) -> int:
    """Return an unsigned amount in the currency's smallest unit."""
    sign, amount = read_signed(text, currency)
    if sign:
        raise ValueError("must have no sign: its column says which way it went")
    return amount


def read_moment(text: str, parse: Callable[[str], datetime], example: str) -> datetime:
    """Return the moment that `parse` reads, which raises ValueError for a text that is not like `example`."""
    try:
        moment = parse(text)
    except ValueError:
        raise ValueError(f"must be a time such as {example}") from None
    if moment.year not in YEARS:
        raise ValueError(f"must be a time of the years {YEARS[0]} to {YEARS[-1]}")
    return moment


def write_amount(amount: int, currency: str) -> str:
    decimals = DECIMALS[currency]
    return f"{Decimal(amount).scaleb(-decimals):.{decimals}f}"
