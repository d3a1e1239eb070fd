"""Lexemes: the normalized texts that an object is found by, compared whole or by their beginning.

PostgreSQL stores those of an object as a `tsvector`. A word is one lexeme, and so is each part of it: of
`juan@example.com` also `example.com`, `juan`, `example` and `com`. Other facts begin with a character that no word
begins with.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import islice
from string import ascii_lowercase
from typing import Any
from uuid import UUID

# Longer words are found by their beginning.
LEXEME_MAX_LENGTH = 64
# What merchants send is bounded, but not as tightly as this.
LEXEMES_MAX = 200
# Of an ID, so many last digits are compared.
END_LENGTH = 8
# No currency has more.
SPAN_DECIMALS = 4
# Written in many ways, and found by its digits.
PHONE = re.compile(r"\+?[0-9(][0-9 ()/.-]{5,24}[0-9]")
_APART = re.compile(r"[\W_]+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


def amount_lexeme(number: Decimal) -> str:
    """Return the lexeme of an amount in whole units of any currency: the same for 1250 and 1,250.00.

    A letter says how many digits come before the point, so that the amounts of a span begin alike.
    """
    whole, _, fraction = f"{number:f}".partition(".")
    return f"={_length_letter(len(whole))}{whole}{fraction.rstrip('0')}"


def amount_span(low: Decimal, high: Decimal) -> Iterator[tuple[str, bool]]:
    """Yield the lexemes of the amounts from `low` to `high`, and whether each is a beginning."""
    first, last = (f"{number:.{SPAN_DECIMALS}f}".replace(".", "") for number in (low, high))
    for length in range(len(first), len(last) + 1):
        least = first if length == len(first) else "0" * length
        greatest = last if length == len(last) else "9" * length
        head = f"={_length_letter(length - SPAN_DECIMALS)}"
        yield from ((head + digits, is_prefix) for digits, is_prefix in _digits_between(least, greatest, ""))


def _digits_between(least: str, greatest: str, begun: str) -> Iterator[tuple[str, bool]]:
    """Yield the beginnings of the digits from `least` to `greatest`, and the whole ones that end in left-out zeros."""
    width = len(least)
    lowest, highest = begun.ljust(width, "0"), begun.ljust(width, "9")
    if least <= lowest and highest <= greatest:
        yield begun, True
    elif least <= highest and lowest <= greatest:
        if len(begun) >= width - SPAN_DECIMALS and least <= lowest:
            yield begun, False
        for digit in "0123456789":
            yield from _digits_between(least, greatest, begun + digit)


def _length_letter(length: int) -> str:
    return chr(ord("a") + length)


def last4_lexeme(digits: str) -> str:
    """Return the lexeme of a card's last four digits."""
    return f"#{digits}"


def end_lexeme(digits: str) -> str:
    """Return the lexeme of the last digits of an ID, from the last on: fewer digits are its beginning.

    Payers read these digits on their pages: `4F7A 91C2`.
    """
    return f"~{digits[: -END_LENGTH - 1 : -1].lower()}"


def state_lexeme(name: str) -> str:
    """Return the lexeme of the charges in a state."""
    return f"!{name}"


def customer_lexeme(customer_id: UUID) -> str:
    """Return the lexeme of a customer's charges."""
    return f"@{customer_id.hex}"


def merchant_lexeme(merchant_id: UUID) -> str:
    """Return the lexeme of a merchant's objects."""
    return f"^{merchant_id.hex}"


def word(text: str) -> str:
    """Return a word without case, accents and punctuation around it, cut at the most characters; "" for none."""
    if text.isascii() and text.isprintable():
        return _trimmed(text.lower())
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return _trimmed("".join(char for char in plain if char.isprintable() and not unicodedata.combining(char)))


def words(text: str) -> Iterator[str]:
    """Yield the words of a text and the parts of each; of a phone number all digits as one word, too."""
    if PHONE.fullmatch(text.strip()):
        yield digits_of(text)
    for typed in text.split():
        whole = word(typed)
        if whole.isalnum():
            yield whole
            continue
        parts = (whole, *whole.split("@"), *_APART.split(whole))
        yield from dict.fromkeys(filter(None, map(_trimmed, parts)))


def with_one_error(word: str) -> Iterator[str]:
    """Yield the words that `word` becomes by a letter too few, too many or wrong, or by two exchanged."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in ascii_lowercase:
            yield before + letter + after
            yield before + letter + after[1:]


def one_error_pattern(word: str) -> str:
    """Return the regular expression of PostgreSQL for a whole word that is `word` but for one error."""
    ways = [r"\w".join((word[:place], word[place + shift :])) for place in range(len(word) + 1) for shift in (0, 1)]
    ways += [word[:place] + word[place + 1 :] for place in range(len(word))]
    ways += [word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in range(len(word) - 1)]
    return rf"\m({'|'.join(ways)})\M"


def digits_of(text: str) -> str:
    """Return the digits of a text."""
    return re.sub("[^0-9]", "", text)


def _trimmed(text: str) -> str:
    return text[:LEXEME_MAX_LENGTH] if text.isalnum() else _EDGES.sub("", _EDGES.sub("", text)[:LEXEME_MAX_LENGTH])


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts and numbers in a JSON value, without the names of members."""
    match value:
        case dict():
            yield from texts_in([*value.values()])
        case list():
            for member in value:
                yield from texts_in(member)
        case str() | int() | float() if not isinstance(value, bool):
            yield str(value)


def at_most(lexemes: Iterable[str]) -> list[str]:
    """Return the first different lexemes, as many as an object may have."""
    return list(islice(dict.fromkeys(lexemes), LEXEMES_MAX))
