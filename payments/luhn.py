"""Card numbers: their check digit (ISO/IEC 7812-1, annex B), and how one is found in a text."""

import re

_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
# By length, how the numbers begin that schemes issue.
_BEGINNINGS = {15: ("34", "37"), 16: ("2", "35", "4", "5", "6")}
_SEPARATORS = " \u00a0-"
_WITHOUT_SEPARATORS = str.maketrans("", "", _SEPARATORS)
# Beside a letter it is a part of an ID, unless that opens what a card's track holds (ISO/IEC 7813).
_START = r"(?:(?<![0-9A-Za-z])|(?<=%B))"
# It only looks ahead, for another may begin within.
_CANDIDATES = [
    re.compile(rf"{_START}(?=([0-9](?:[{_SEPARATORS}]?[0-9]){{{length - 1}}})(?![0-9A-Za-z]))")
    for length in _BEGINNINGS
]


def luhn_valid(digits: str) -> bool:
    """Whether the last of `digits` (ASCII digits, at least one) is the right check digit for the others."""
    values = [ord(digit) - 48 for digit in reversed(digits)]
    return (sum(values[::2]) + sum(_DOUBLED[value] for value in values[1::2])) % 10 == 0


def holds_card_number(text: str) -> bool:
    """Whether a card number stands in `text`, its digits together or separated by spaces or dashes."""
    return any(_is_card_number(match[1]) for candidate in _CANDIDATES for match in candidate.finditer(text))


def _is_card_number(text: str) -> bool:
    digits = text.translate(_WITHOUT_SEPARATORS)
    return digits.startswith(_BEGINNINGS[len(digits)]) and luhn_valid(digits)
