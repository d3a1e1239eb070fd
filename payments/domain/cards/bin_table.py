"""The BIN table: brand, funding, country and issuer by the first digits of a card number."""

from django.db.models import Q

from payments.models import BinRange

UNKNOWN = "unknown"
BRANDS = ("visa", "mastercard", "jcb", "amex", "unionpay", UNKNOWN)
FUNDINGS = ("credit", "debit", "prepaid", UNKNOWN)
# How many first digits an entry of the BIN table may have.
PREFIX_LENGTHS = range(4, 12)
# How many first digits a statement may hold, which a database may log (PCI DSS 3.5.1: truncated to these and four).
SHOWN_DIGITS = 8
# The columns of the BIN table that a card has too.
FACTS = ("brand", "funding", "country", "issuing_bank")
# The facts of the contract's test cards; no bank issues these.
TEST_CARDS = {
    "400000000000": ("visa", "credit", "US", "Test Bank"),
    "401200103714": ("visa", "credit", "US", "Test Bank"),
    "424242424242": ("visa", "credit", "US", "Test Bank"),
    "555555555555": ("mastercard", "credit", "US", "Test Bank"),
    "356600202036": ("jcb", "credit", "JP", "Test Bank"),
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


def describe(number: str) -> BinRange:
    """Return the BIN table's longest entry that matches `number`, else one of built-in facts. One query."""
    shorter = [number[:length] for length in PREFIX_LENGTHS if length < SHOWN_DIGITS]
    entries = BinRange.objects.filter(Q(prefix__in=shorter) | Q(prefix__startswith=number[:SHOWN_DIGITS]))
    matches = [entry for entry in entries if number.startswith(entry.prefix)]
    if matches:
        return max(matches, key=lambda entry: len(entry.prefix))
    brand = next((brand for first, last, brand in BRAND_RANGES if first <= number[:4] <= last), UNKNOWN)
    facts = TEST_CARDS.get(number[:12]) or (brand, UNKNOWN, UNKNOWN, UNKNOWN)
    return BinRange(**dict(zip(FACTS, facts, strict=True)))
