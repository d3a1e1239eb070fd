"""Normalization of digits in any script, dashes and blanks to ASCII."""

import unicodedata

# Letters and symbols without a visible glyph.
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
_MARKS = {"\u2212": "-", "\u00b7": ".", "\u2022": ".", "\u2219": ".", "\u22c5": ".", "\u30fb": "."}
# Format characters, combining marks, controls and separators: they count as blanks between digits.
_BLANK_CATEGORIES = frozenset(["Cf", "Mn", "Me", "Cc", "Zs", "Zl", "Zp"])


class _Table(dict[int, str]):
    """A table for `str.translate`, filled as characters occur."""

    def __missing__(self, code: int) -> str:
        self[code] = plain = _plain(chr(code))
        return plain


def plain(text: str) -> str:
    """Return `text` with ASCII digits and `-` for dashes (NFKC), and a blank for each blank or invisible character.

    Positions stay the same, except after a character that stands for several digits, such as a circled 42.
    """
    return text if text.isascii() else text.translate(_TABLE)


def expanded(text: str) -> str:
    """Return `text` with each character that stands for several digits replaced by these."""
    if text.isascii() or len(text) == len(plain(text)):
        return text
    return "".join(_TABLE[ord(letter)] if len(_TABLE[ord(letter)]) > 1 else letter for letter in text)


def _plain(letter: str) -> str:
    if letter.isascii():
        return letter
    category = unicodedata.category(letter)
    if letter in _BLANK_LETTERS or category in _BLANK_CATEGORIES:
        return " "
    if (digit := unicodedata.decimal(letter, None)) is not None:
        return str(digit)
    if category == "Pd" or letter in _MARKS:
        return _MARKS.get(letter, "-")
    form = unicodedata.normalize("NFKC", letter)
    digits = form.strip("().,")
    if digits.isascii() and digits.isdigit():
        return digits
    return form if len(form) == 1 and form.isascii() else letter


_TABLE = _Table()
