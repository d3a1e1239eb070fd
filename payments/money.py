"""Formatting and parsing of amounts of money."""

import re
from collections.abc import Mapping
from decimal import Decimal

from iso4217 import Currency

# Every code of ISO 4217, withdrawn ones too, by its decimals. It only grows: amounts in a withdrawn code stay stored.
_CODES = {
    0: """
        ADP BEF BIF BYB BYR CLP DJF ESP GNF GRD ISK ITL JPY KMF KRW LUF MGF PTE PYG RWF TPE TRL UGX UYI VND VUV
        XAF XOF XPF
    """,
    2: """
        AED AFA AFN ALL AMD ANG AOA ARS ATS AUD AWG AYM AZM AZN BAM BBD BDT BGL BGN BMD BND BOB BOV BRL BSD BTN
        BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CSD CUC CUP CVE CYP CZK DEM DKK DOP DZD EEK EGP ERN ETB
        EUR FIM FJD FKP FRF GBP GEL GHC GHS GIP GMD GTQ GWP GYD HKD HNL HRK HTG HUF IDR IEP ILS INR IRR JMD KES
        KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL LTL LVL MAD MDL MGA MKD MMK MNT MOP MRO MRU MTL MUR MVR MWK MXN
        MXV MYR MZM MZN NAD NGN NIO NLG NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR ROL RON RSD RUB RUR SAR SBD SCR
        SDD SDG SEK SGD SHP SIT SKK SLE SLL SOS SRD SRG SSP STD STN SVC SYP SZL THB TJS TMM TMT TOP TRY TTD TWD
        TZS UAH USD USN USS UYU UZS VEB VED VEF VES WST XAD XCD XCG YER YUM ZAR ZMK ZMW ZWD ZWG ZWL ZWN ZWR
    """,
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
# Gold, funds and test codes, which have no smallest unit: reports of providers may have them, a charge never.
_WITHOUT_UNIT = "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX"
_DECIMALS_OF_MONEY = {code: decimals for decimals, codes in _CODES.items() for code in codes.split()}
DECIMALS: Mapping[str, int] = {**_DECIMALS_OF_MONEY, **dict.fromkeys(_WITHOUT_UNIT.split(), 0)}
# What stored money may be in.
KNOWN_CURRENCIES = frozenset(_DECIMALS_OF_MONEY)
# What new money may be in: the codes of today. One whose decimals changed would change the amounts that are stored.
CURRENCIES = frozenset(currency.code for currency in Currency if DECIMALS.get(currency.code) == currency.exponent)
DEFAULT_CURRENCY = "PHP"
# As wide as a digit, and before the sign of the currency.
MINUS = "\N{MINUS SIGN}"
TYPED = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,14})(?:\.[0-9]{1,6})?")


def shown_amount(amount: int, currency: str) -> str:
    """Return `amount` in the smallest unit of `currency` (ISO 4217) as people read it: "−₱1,234.50", "USD 1,234.50".

    A code without a smallest unit (gold, XAU) has no decimals. Raises ValueError for an unknown code.
    """
    sign = "₱" if currency == DEFAULT_CURRENCY else f"{currency}\N{NO-BREAK SPACE}"
    return f"{MINUS * (amount < 0)}{sign}{plain_amount(abs(amount), currency)}"


def plain_amount(amount: int, currency: str) -> str:
    """Return `amount` as `shown_amount` does, without the currency: "1,234.50"."""
    return f"{MINUS * (amount < 0)}{major_units(abs(amount), currency):,.{_decimals(currency)}f}"


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
    if currency not in DECIMALS:
        raise ValueError(f"{currency!r} is no ISO 4217 currency code")
    return DECIMALS[currency]
