"""Normalization of digits in any script, dashes, blanks and escapes to ASCII."""

import html
import re
import unicodedata
from urllib.parse import unquote

# Letters and symbols without a visible glyph.
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
_MARKS = {"\u2212": "-", "\u00b7": ".", "\u2022": ".", "\u2219": ".", "\u22c5": ".", "\u30fb": "."}
# Format characters, combining marks, controls and separators: they count as blanks between digits.
_BLANK_CATEGORIES = frozenset(["Cf", "Mn", "Me", "Cc", "Zs", "Zl", "Zp"])
# Escapes of blanks and invisible characters in JSON, Python, HTML and forms. A run of backslashes is read once.
ESCAPED = (
    r"(?<!\\)\\++(?:[bfnrtv]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2}"
    r"|&(?:[A-Za-z]{2,6}|#[0-9]{1,5}|#[xX][0-9A-Fa-f]{1,4});"
)
_IN_CODE = re.compile(r"(?<!\\)\\++(?:([bfnrtv])|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
# A form's blank; the one before a telephone number is none.
_PLUS = re.compile(r"(?<=[0-9])\+(?=[0-9])")
_SIGNS = re.compile(r"[%&\\+]")
# A program may escape what another one has escaped.
_MOST_ESCAPES = 3


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


def unescaped(text: str) -> str:
    """Return `text` with the escapes of addresses, HTML, JSON and Python replaced by what they stand for."""
    for _ in range(_MOST_ESCAPES):
        if not _SIGNS.search(text):
            return text
        found = _IN_CODE.sub(_character, html.unescape(unquote(_PLUS.sub(" ", text))))
        if found == text:
            return text
        text = found
    return text


def _character(escape: re.Match[str]) -> str:
    """Return the character of an escape in code; a blank for a control character."""
    code = escape[2] or escape[3]
    return chr(int(code, 16)) if code else " "


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
