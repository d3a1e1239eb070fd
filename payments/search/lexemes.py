"""Lexemes: the normalized texts that an object is found by, compared whole or by their beginning.

PostgreSQL stores those of an object as a `tsvector`. A word is one lexeme, and so is each part of it: of
`juan@example.com` also `example.com`, `juan`, `example` and `com`. Other facts begin with a character that no word
begins with.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

# Longer words are found by their beginning.
LEXEME_MAX_LENGTH = 64
# What merchants send is bounded, but not as tightly as this.
LEXEMES_MAX = 200
# Written in many ways, and found by its digits.
PHONE = re.compile(r"\+?[0-9(][0-9 ()/.-]{5,24}[0-9]")
_APART = re.compile(r"[\W_]+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


def amount_lexeme(number: Decimal) -> str:
    """Return the lexeme of an amount in whole units of any currency: the same for 1250 and 1,250.00."""
    return f"={number.normalize():f}"


def last4_lexeme(digits: str) -> str:
    """Return the lexeme of a card's last four digits."""
    return f"#{digits}"


def reference_lexeme(reference: str) -> str:
    """Return the lexeme of the reference that payers read on their pages, `4F7A 91C2`."""
    return f"~{reference.replace(' ', '').lower()}"


def customer_lexeme(customer_id: UUID) -> str:
    """Return the lexeme of a customer's charges."""
    return f"@{customer_id.hex}"


def merchant_lexeme(merchant_id: UUID) -> str:
    """Return the lexeme of a merchant's objects."""
    return f"^{merchant_id.hex}"


def word(text: str) -> str:
    """Return a word without case, accents and punctuation around it, cut at the most characters; "" for none."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return _trimmed("".join(char for char in plain if char.isprintable() and not unicodedata.combining(char)))


def words(text: str) -> Iterator[str]:
    """Yield the words of a text and the parts of each; of a phone number all digits as one word, too."""
    if PHONE.fullmatch(text.strip()):
        yield digits_of(text)
    for typed in text.split():
        whole = word(typed)
        parts = (whole, *whole.split("@"), *_APART.split(whole))
        yield from dict.fromkeys(filter(None, map(_trimmed, parts)))


def digits_of(text: str) -> str:
    """Return the digits of a text."""
    return re.sub("[^0-9]", "", text)


def _trimmed(text: str) -> str:
    return _EDGES.sub("", _EDGES.sub("", text)[:LEXEME_MAX_LENGTH])


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
    return [lexeme for lexeme, _ in zip(dict.fromkeys(lexemes), range(LEXEMES_MAX), strict=False)]
