"""Detection of card numbers in text, for validation and for redaction.

A number counts as a card number if its first digits and its length are those of a scheme and its check digit is
right. It may touch letters. Its digits may be together, in any groups separated by blanks and dashes, or one by one or
in groups as on cards separated by other marks or an x. It is also found where addresses, HTML or JSON escape any of its
characters.

What is refused is less than what is hidden: a long number of an order must not be taken for a card.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate

from payments.sensitive_data.card_ranges import BEGINNINGS, LENGTHS_BY_FIRST_DIGIT, is_known, is_taken
from payments.sensitive_data.luhn import luhn_valid
from payments.sensitive_data.plain_text import plain, unescaped

SHORTEST = min(BEGINNINGS)
LONGEST_PHONE = 15

_GAP = r"[\x00- \x7f\-]{0,6}"
_MARK = r"[^0-9A-Za-z:]{1,3}"
# Only between groups as on cards: times have colons, and sizes an x, between shorter groups.
_CARD_MARK = r"(?:[^0-9A-Za-z]{1,3}|[^0-9A-Za-z]{0,2}[xX][^0-9A-Za-z]{0,2})"
_GROUP = re.compile("[0-9]+")
_ALL_BUT_DIGITS = re.compile("[^0-9]+")
_ALL_BUT_LETTERS_AND_DIGITS = re.compile("[^0-9A-Za-z]")
# A cheap first test: few texts have so many digits so close to each other. What begins within a group of digits begins
# with the group, too.
POSSIBLE_ON_CARD = (
    rf"[0-9](?:[0-9]{{3}}{_CARD_MARK}[0-9]{{3,6}}{_CARD_MARK}[0-9]{{3,5}}|(?:{_CARD_MARK}[0-9]){{{SHORTEST - 1}}})"
)
_POSSIBLE = re.compile(rf"(?<![0-9])(?:[0-9](?:[^0-9A-Za-z:]{{0,6}}[0-9]){{{SHORTEST - 1}}}|{POSSIBLE_ON_CARD})")
_IN_ANY_GROUPS = re.compile(rf"[0-9](?:{_GAP}[0-9]){{{SHORTEST - 1},}}")
_ONE_BY_ONE = re.compile(rf"(?<![0-9])[0-9](?:{_CARD_MARK}[0-9]){{{SHORTEST - 1},}}(?![0-9])")
# Lookaheads, because another number may begin within a match. Each match ends with a group of digits.
_AS_ON_CARDS = [
    re.compile(rf"(?<![0-9])(?=({groups})(?![0-9]))")
    for groups in (
        rf"[0-9]{{4}}(?:{_CARD_MARK}[0-9]{{4}}){{2}}{_CARD_MARK}[0-9]{{1,4}}",
        rf"[0-9]{{4}}(?:{_CARD_MARK}[0-9]{{4}}){{3}}{_CARD_MARK}[0-9]{{1,3}}",
        rf"[0-9]{{4}}{_CARD_MARK}[0-9]{{6}}{_CARD_MARK}[0-9]{{4,5}}",
        rf"[0-9]{{4}}(?:{_CARD_MARK}[0-9]{{3}}){{3}}",
        rf"[0-9]{{6}}{_MARK}[0-9]{{10,13}}",
        rf"[0-9]{{8}}{_MARK}[0-9]{{8}}",
    )
]

# Identifiers that are no card numbers, although a part of them looks like one.
_HEX_LENGTHS = (24, 32, 40, 56, 64, 96, 128)
_HEX = "|".join(f"[0-9a-f]{{{length}}}|[0-9A-F]{{{length}}}" for length in _HEX_LENGTHS)
_UUID = r"(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
# A global IPv6 address, which begins with 2 or 3; whole, or with a `::`.
_IPV6 = r"(?i:[23][0-9a-f]{3}(?::[0-9a-f]{1,4}){7}|[23][0-9a-f]{3}(?::[0-9a-f]{1,4}){0,6}::(?:[0-9a-f]{1,4}:?){0,6})"
_ID = re.compile(rf"(?<![0-9A-Za-z])(?:{_HEX}|{_UUID}|{_IPV6})(?![0-9A-Za-z])")
_IBAN = re.compile(
    r"(?<![0-9A-Za-z])[A-Za-z]{2}[0-9]{2}(?:[ \-]?[0-9A-Za-z]{4}){2,7}(?:[ \-]?[0-9A-Za-z]{1,3})?(?![0-9A-Za-z])"
)
_DAY, _MONTH, _YEAR = "(?:0[1-9]|[12][0-9]|3[01])", "(?:0[1-9]|1[0-2])", "(?:20)?[2-3][0-9]"
_TIME = "(?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]"
# A date and a zero-padded counter, or a date and a time.
_DATED = re.compile(rf"(?:[2-3][0-9]{_MONTH}{_DAY}|{_DAY}{_MONTH}{_YEAR})(?:000|{_TIME})[0-9]*")


def holds_card_number(text: str) -> bool:
    """Return whether `text` contains a number of any card, or does once it is unescaped."""
    return _holds(text, is_known)


def holds_taken_card(text: str) -> bool:
    """Return whether `text` contains the number of a card that the API could take, or does once it is unescaped."""
    return _holds(text, is_taken)


def spans_of_card_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each card number in `plain(text)`, the same as in `expanded(text)`; in no order."""
    return _spans(text, is_known)


def _holds(text: str, is_card: Callable[[str], bool]) -> bool:
    if next(_spans(text, is_card), None) is not None:
        return True
    meant = unescaped(text)
    return meant != text and next(_spans(meant, is_card), None) is not None


def _spans(text: str, is_card: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    text = plain(text)
    if not _POSSIBLE.search(text):
        return
    found = [each for each in _candidates(text) if is_card(each[2]) and _looks_issued(text, *each)]
    if not found:
        return
    exempt = sorted(_spans_of_ids(text))
    starts = [first for first, _ in exempt]
    # The furthest end of those that begin up to each, so that one look finds whether a number is within any.
    ends = [0, *accumulate((last for _, last in exempt), max)]
    for start, end, _ in found:
        if end > ends[bisect_right(starts, start)]:
            yield start, end


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and digits of all numbers of a card number's length, in whole groups of digits."""
    for pattern in (_IN_ANY_GROUPS, _ONE_BY_ONE):
        for run in pattern.finditer(text):
            yield from _in_any_groups(text, run.start(), run.end())
    for pattern in _AS_ON_CARDS:
        yield from ((*match.span(1), _ALL_BUT_DIGITS.sub("", match[1])) for match in pattern.finditer(text))


def _in_any_groups(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    groups = [group.span() for group in _GROUP.finditer(text, start, end)]
    digits = "".join(text[first:last] for first, last in groups)
    counts = list(accumulate((last - first for first, last in groups), initial=0))
    ends = dict(zip(counts[1:], (last for _, last in groups), strict=True))
    for count, (first, _) in zip(counts, groups, strict=False):
        for length in LENGTHS_BY_FIRST_DIGIT.get(digits[count], ()):
            if count + length in ends:
                yield first, ends[count + length], digits[count : count + length]


def _looks_issued(text: str, start: int, _end: int, digits: str) -> bool:
    if not luhn_valid(digits):
        return False
    is_phone = len(digits) <= LONGEST_PHONE and text[start - 1 : start] == "+"
    return not (is_phone or _is_barcode(digits) or _DATED.fullmatch(digits))


def _is_barcode(digits: str) -> bool:
    """Return whether `digits` are an EAN-13, which begins with 4 in the Philippines, Japan and Germany."""
    values = [int(digit) for digit in digits]
    return len(values) == 13 and (sum(values[::2]) + 3 * sum(values[1::2])) % 10 == 0


def _spans_of_ids(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of UUIDs, digests, hex IDs, IPv6 addresses and IBANs."""
    yield from (match.span() for match in _ID.finditer(text))
    for match in _IBAN.finditer(text):
        # The next word may be as long as a group of the IBAN, so shorter ends are tried too.
        ends = [match.end(), *(match.start() + gap.start() for gap in _ALL_BUT_LETTERS_AND_DIGITS.finditer(match[0]))]
        yield from ((match.start(), end) for end in ends if _is_iban(text[match.start() : end]))


def _is_iban(text: str) -> bool:
    """Return whether the check digits are right (ISO 13616: letters count from 10, first four last, modulo 97 is 1)."""
    letters = _ALL_BUT_LETTERS_AND_DIGITS.sub("", text)
    number = int("".join(str(int(letter, 36)) for letter in letters[4:] + letters[:4]) or "0")
    return number % 97 == 1
