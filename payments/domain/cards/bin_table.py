"""The BIN table: brand, funding, country and issuer by the first digits of a card number."""

from threading import Lock

from cachetools import TTLCache, cached
from django.db.models import Q, QuerySet

from payments.db.compiled_query import CompiledQuery
from payments.models import BinRange
from payments.models.charging.source import UNKNOWN

# How many first digits an entry of the BIN table may have.
PREFIX_LENGTHS = range(4, 12)
# How many first digits a statement may hold, which a database may log (PCI DSS 3.5.1: truncated to these and four).
SHOWN_DIGITS = 8
# An import counts in every process after so long; most payers' cards have one of a few first digits.
KEPT_SECONDS, KEPT_COUNT = 60, 1000
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


@CompiledQuery
def entries(*, shown: str, **shorter: str) -> QuerySet[BinRange]:
    """Select the entries of the BIN table that are one of `shorter` or begin with `shown`."""
    return BinRange.objects.filter(Q(prefix__in=shorter.values()) | Q(prefix__startswith=shown))


@cached(TTLCache(KEPT_COUNT, KEPT_SECONDS), lock=Lock())
def known_entries(shown: str) -> list[BinRange]:
    """Return the entries for the first SHOWN_DIGITS of a number as they were at most KEPT_SECONDS ago."""
    shorter = {f"first_{length}": shown[:length] for length in PREFIX_LENGTHS if length < SHOWN_DIGITS}
    return entries(shown=shown, **shorter)


def describe(number: str) -> BinRange:
    """Return the BIN table's longest entry that matches `number`, else one of built-in facts. One query at most."""
    matches = [entry for entry in known_entries(number[:SHOWN_DIGITS]) if number.startswith(entry.prefix)]
    if matches:
        return max(matches, key=lambda entry: len(entry.prefix))
    brand = next((brand for first, last, brand in BRAND_RANGES if first <= number[:4] <= last), UNKNOWN)
    facts = TEST_CARDS.get(number[:12]) or (brand, UNKNOWN, UNKNOWN, UNKNOWN)
    return BinRange(**dict(zip(FACTS, facts, strict=True)))
