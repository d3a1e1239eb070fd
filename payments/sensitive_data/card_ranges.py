"""The issuer identification numbers (IIN, ISO/IEC 7812-1) and lengths of the card numbers that schemes issue.

Sources: Visa's and Mastercard's rules (Mastercard's 2-series since 2016); Discover's IIN ranges, which include Diners
Club, JCB and UnionPay, because they share its network; the acquirer guides of American Express, Mir, RuPay and Troy.

Left out:
- Maestro of 12 to 15 digits, which look like telephone numbers with a country code (+60, +62, +63, Latin America).
- UATP (15 digits that begin with 1), which look like counters and times of day.
- Lengths that a scheme reserves but does not issue, such as Visa's 14 and 15 digits.
Elo, Hipercard, Verve and Dankort are within the ranges of others here.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

# Of the cards that the API takes.
CARD_NUMBER_DIGITS = 16
SIXTEEN = (CARD_NUMBER_DIGITS,)
SIXTEEN_TO_NINETEEN = (16, 17, 18, 19)

# By scheme: the ranges of first digits as (first, last), and the lengths of its numbers.
SCHEMES: Mapping[str, tuple[tuple[tuple[str, str], ...], tuple[int, ...]]] = {
    "Visa": ((("4", "4"),), (13, 16, 19)),
    "Mastercard": ((("51", "55"), ("2221", "2720")), SIXTEEN),
    "American Express": ((("34", "34"), ("37", "37")), (15,)),
    "Diners Club": ((("300", "305"), ("3095", "3095"), ("36", "36"), ("38", "39")), (14, 15, *SIXTEEN_TO_NINETEEN)),
    "Discover": ((("6011", "6011"), ("644", "649"), ("65", "65"), ("622126", "622925")), SIXTEEN_TO_NINETEEN),
    "JCB": ((("3528", "3589"),), SIXTEEN_TO_NINETEEN),
    "UnionPay": ((("62", "62"), ("81", "81")), SIXTEEN_TO_NINETEEN),
    "Maestro": ((("50", "50"), ("56", "58"), ("60", "69")), SIXTEEN_TO_NINETEEN),
    "Mir": ((("2200", "2204"),), SIXTEEN_TO_NINETEEN),
    "RuPay": ((("60", "60"), ("65", "65"), ("81", "82"), ("508", "508"), ("353", "353"), ("356", "356")), SIXTEEN),
    "Troy": ((("9792", "9792"),), SIXTEEN),
}


def _beginnings() -> dict[int, tuple[str, ...]]:
    found = defaultdict[int, set[str]](set)
    for ranges, lengths in SCHEMES.values():
        for length in lengths:
            found[length].update(beginning for first, last in ranges for beginning in _between(first, last))
    return {length: tuple(sorted(beginnings)) for length, beginnings in found.items()}


def _between(first: str, last: str) -> Iterable[str]:
    return (f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1))


# By length: the first digits of the numbers that are issued.
BEGINNINGS = _beginnings()
LENGTHS_BY_FIRST_DIGIT = {
    digit: tuple(length for length, texts in BEGINNINGS.items() if any(text[0] == digit for text in texts))
    for digit in "0123456789"
}


# Maestro is not issued any more; numbers of orders begin as its did.
TAKEN = tuple(
    beginning
    for scheme, (ranges, lengths) in SCHEMES.items()
    for first, last in ranges
    for beginning in _between(first, last)
    if scheme != "Maestro" and CARD_NUMBER_DIGITS in lengths
)


def is_known(digits: str) -> bool:
    """Return whether a scheme issues, or once issued, numbers with these first digits and this length."""
    return digits.startswith(BEGINNINGS.get(len(digits), ()))


def is_taken(digits: str) -> bool:
    """Return whether the API could take a card with this number: of its length, and of a scheme that issues cards."""
    return len(digits) == CARD_NUMBER_DIGITS and digits.startswith(TAKEN)
