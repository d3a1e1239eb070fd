"""Amounts as people read them."""

from decimal import Decimal

from iso4217 import Currency

# Codes without a minor unit (XXX, gold, test codes) are no money that anybody can pay with.
CURRENCIES = frozenset(currency.code for currency in Currency if currency.exponent is not None)
DEFAULT_CURRENCY = "PHP"


def format_amount(amount: int, currency: str) -> str:
    """`amount` in the smallest unit of `currency` (ISO 4217, upper case) as text: "PHP 1,234.50" for 123450.

    A code without a smallest unit (gold, XAU) has no decimals. Raises ValueError for an unknown code.
    """
    decimals = Currency(currency).exponent or 0
    return f"{currency} {Decimal(amount).scaleb(-decimals):,.{decimals}f}"
