"""What stands in the cells of a settlement report; each reader raises ValueError with what should stand there."""

import re
from datetime import UTC, datetime
from decimal import Decimal

from iso4217 import Currency

from payments.domain.reconciliation.mappings import CsvMapping
from payments.providers.base import Movement

DECIMAL = re.compile(r"([+-]?)([0-9]{1,14}(?:\.[0-9]{1,6})?)")
WHOLE = re.compile(r"([+-]?)([0-9]{1,18})")
PRINTABLE = re.compile(r"[^\x00-\x1f\x7f-\x9f]{0,255}")
# What a spreadsheet takes for the beginning of a formula.
FORMULA = re.compile(r"[=+\-@]")
EXAMPLE = datetime(2026, 11, 21, 13, 30, 59, 123456, UTC)


def read_reference(text: str) -> str:
    if FORMULA.match(text):
        raise ValueError("must be a reference; this is a formula to a spreadsheet")
    if not PRINTABLE.fullmatch(text):
        raise ValueError("must be up to 255 printable characters")
    return text


def read_kind(text: str, mapping: CsvMapping) -> Movement:
    try:
        return mapping.kinds[text]
    except KeyError:
        raise ValueError(f"must be one of {', '.join(mapping.kinds)}") from None


def read_currency(text: str) -> str:
    try:
        return Currency(text).code
    except ValueError:
        raise ValueError("must be a currency by ISO 4217 in capital letters, such as PHP") from None


def read_amount(text: str, kind: Movement, currency: str, mapping: CsvMapping) -> int:
    """The amount in the smallest unit, with the sign of its kind."""
    decimals = 0 if mapping.minor_units else _decimals(currency)
    match = (WHOLE if mapping.minor_units else DECIMAL).fullmatch(text)
    if match is None:
        raise ValueError(f"must be an amount of {currency} in digits, such as {_written(1850, decimals)}")
    amount = Decimal(match[2]).scaleb(decimals)
    if not amount or amount != amount.to_integral_value():
        raise ValueError(f"must be an amount of {currency} above 0 with {decimals} decimals at most")
    if match[1] != _sign(kind, mapping) and (match[1], kind.sign) != ("+", 1):
        raise ValueError(f"has the wrong sign for a {kind}")
    return kind.sign * int(amount)


def write_amount(amount: int, kind: Movement, currency: str, mapping: CsvMapping) -> str:
    """`amount` as `read_amount` reads it."""
    return _sign(kind, mapping) + _written(abs(amount), 0 if mapping.minor_units else _decimals(currency))


def read_moment(text: str, mapping: CsvMapping) -> datetime:
    try:
        moment = datetime.strptime(text, mapping.booked_format)  # noqa: DTZ007  the mapping has the zone
    except ValueError:
        raise ValueError(f"must be a time such as {write_moment(EXAMPLE, mapping)}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=mapping.zone)


def write_moment(moment: datetime, mapping: CsvMapping) -> str:
    """`moment` as `read_moment` reads it."""
    return moment.astimezone(mapping.zone).strftime(mapping.booked_format)


def _sign(kind: Movement, mapping: CsvMapping) -> str:
    return "-" if mapping.signed and kind.sign < 0 else ""


def _decimals(currency: str) -> int:
    return Currency(currency).exponent or 0


def _written(amount: int, decimals: int) -> str:
    return f"{Decimal(amount).scaleb(-decimals):.{decimals}f}"
