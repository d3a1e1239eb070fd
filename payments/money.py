"""Formatting and parsing of amounts of money."""

import re
from decimal import Decimal

from iso4217 import Currency

# Codes without a minor unit (XXX, gold, test codes) are not currencies for payments.
CURRENCIES = frozenset(currency.code for currency in Currency if currency.exponent is not None)
DEFAULT_CURRENCY = "PHP"
TYPED = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,14})(?:\.[0-9]{1,6})?")


def format_amount(amount: int, currency: str) -> str:
    """Return `amount` in the smallest unit of `currency` (ISO 4217) as text: "PHP 1,234.50" for 123450.

    A code without a smallest unit (gold, XAU) has no decimals. Raises ValueError for an unknown code.
    """
    return f"{currency} {plain_amount(amount, currency)}"


def plain_amount(amount: int, currency: str) -> str:
    """Return `amount` as `format_amount` does, without the currency: "1,234.50"."""
    return f"{major_units(amount, currency):,.{_decimals(currency)}f}"


def major_units(amount: int, currency: str) -> Decimal:
    """Return `amount` in the smallest unit of `currency` as a number of whole units: 18.90 for 1890.

    Raises ValueError for an unknown code.
    """
    return Decimal(amount).scaleb(-_decimals(currency))


def minor_units(number: Decimal, currency: str) -> int:
    """Return a number of whole units of `currency` in its smallest unit: 1890 for 18.9.

    Raises ValueError for an unknown code, and for more decimals than the currency has.
    """
    amount = number.scaleb(_decimals(currency))
    if not amount.is_finite() or amount != amount.to_integral_value():
        raise ValueError("more decimals than the currency has")
    return int(amount)


def parse_amount(text: str, currency: str) -> int:
    """Return a typed amount, "1,234.50" or "1234.5", in the smallest unit of `currency`.

    Raises ValueError for anything else, such as a sign or more decimals than the currency has.
    """
    typed = text.strip()
    try:
        return minor_units(Decimal(typed.replace(",", "") if TYPED.fullmatch(typed) else "NaN"), currency)
    except ValueError:
        raise ValueError(f"not an amount such as {plain_amount(123450, currency)}") from None


def _decimals(currency: str) -> int:
    return Currency(currency).exponent or 0
