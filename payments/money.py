"""Amounts as people read and write them."""

import re
from decimal import Decimal

from iso4217 import Currency

# Codes without a minor unit (XXX, gold, test codes) are no money that anybody can pay with.
CURRENCIES = frozenset(currency.code for currency in Currency if currency.exponent is not None)
DEFAULT_CURRENCY = "PHP"
TYPED = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,14})(?:\.[0-9]{1,6})?")


def format_amount(amount: int, currency: str) -> str:
    """`amount` in the smallest unit of `currency` (ISO 4217, upper case) as text: "PHP 1,234.50" for 123450.

    A code without a smallest unit (gold, XAU) has no decimals. Raises ValueError for an unknown code.
    """
    return f"{currency} {plain_amount(amount, currency)}"


def plain_amount(amount: int, currency: str) -> str:
    """As `format_amount`, without the currency: "1,234.50"."""
    decimals = _decimals(currency)
    return f"{Decimal(amount).scaleb(-decimals):,.{decimals}f}"


def parse_amount(text: str, currency: str) -> int:
    """What people write for an amount, "1,234.50" or "1234.5", in the smallest unit of `currency`.

    Raises ValueError for anything else, such as a sign or more decimals than the currency has.
    """
    typed = text.strip()
    amount = Decimal(typed.replace(",", "")).scaleb(_decimals(currency)) if TYPED.fullmatch(typed) else None
    if amount is None or amount != amount.to_integral_value():
        raise ValueError(f"not an amount such as {plain_amount(123450, currency)}")
    return int(amount)


def _decimals(currency: str) -> int:
    return Currency(currency).exponent or 0
