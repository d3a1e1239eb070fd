"""The BIN table: brand, funding, country and issuer by the first digits of a card number."""

from dataclasses import dataclass

from django.db.models import Q

from payments.models import BinRange

UNKNOWN = "unknown"
BRANDS = ("visa", "mastercard", "jcb", "amex", "unionpay", UNKNOWN)
FUNDINGS = ("credit", "debit", "prepaid", UNKNOWN)
# How many first digits an entry of the BIN table may have.
PREFIX_LENGTHS = range(4, 12)
# How many first digits a statement may hold, which a database may log (PCI DSS 3.5.1: truncated to these and four).
SHOWN_DIGITS = 8


@dataclass(frozen=True, slots=True)
class CardFacts:
    """The facts in the first digits of a card number, each `unknown` where there is none."""

    brand: str = UNKNOWN
    funding: str = UNKNOWN
    country: str = UNKNOWN
    issuing_bank: str = UNKNOWN


# The test cards of the contract; no bank issues these.
TEST_CARDS = {
    "400000000000": CardFacts("visa", "credit", "US", "Test Bank"),
    "401200103714": CardFacts("visa", "credit", "US", "Test Bank"),
    "424242424242": CardFacts("visa", "credit", "US", "Test Bank"),
    "555555555555": CardFacts("mastercard", "credit", "US", "Test Bank"),
    "356600202036": CardFacts("jcb", "credit", "JP", "Test Bank"),
}
# First and last of the first four digits that each scheme may issue (ISO/IEC 7812).
BRAND_RANGES = (
    ("2221", "2720", "mastercard"),
    ("3400", "3499", "amex"),
    ("3528", "3589", "jcb"),
    ("3700", "3799", "amex"),
    ("4000", "4999", "visa"),
    ("5100", "5599", "mastercard"),
    ("6200", "6299", "unionpay"),
)


def describe(number: str) -> CardFacts:
    """Return the facts of the BIN table's longest entry that matches `number`, else the built-in ones. One query."""
    shorter = [number[:length] for length in PREFIX_LENGTHS if length < SHOWN_DIGITS]
    entries = BinRange.objects.filter(Q(prefix__in=shorter) | Q(prefix__startswith=number[:SHOWN_DIGITS]))
    matches = (entry for entry in entries if number.startswith(entry.prefix))
    longest = max(matches, key=lambda entry: len(entry.prefix), default=None)
    if longest is None:
        return TEST_CARDS.get(number[:12]) or CardFacts(brand=_brand_by_range(number))
    return CardFacts(longest.brand, longest.funding, longest.country, longest.issuing_bank)


def _brand_by_range(number: str) -> str:
    return next((brand for first, last, brand in BRAND_RANGES if first <= number[:4] <= last), UNKNOWN)
