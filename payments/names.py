"""Pattern P of the API (contract, field rules): what names and addresses are written in, and its part in ASCII."""

import re
import unicodedata

from anyascii import anyascii

# Letters, digits and marks of ASCII, as in a class of a regular expression.
PLAIN = r"A-Za-z0-9 '#_.\-,"
SPACES = r"\t\n\r\f\v"
# A trailing line break is whitespace too, but never part of a name.
PLAIN_TEXT = rf"[{PLAIN}{SPACES}]*[{PLAIN}\t]"
# Of what is no ASCII every engine of regular expressions takes the same only where its pattern names no letters. So
# the document refuses what no text of P has, and the field looks at each letter.
_OTHERS = r"!\"$%&()*+/:;<=>?@\[\\\]^`{|}~\x7f-\xa0"
DOCUMENTED = rf"[^\x00-\x08\x0e-\x1f{_OTHERS}]*[^\x00-\x08\x0a-\x1f{_OTHERS}]"
# Line ends, other controls, marks that turn the direction of a text, and what no page shows. Languages write some of
# what cannot be seen: U+200B to U+200D stay.
UNSEEN = r"\x00-\x1f\x7f-\x9f\u061c\u180e\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
NOT_IN_ONE_LINE = re.compile(f"[{UNSEEN}]")
_ALLOWED, _ENDING = re.compile(f"[{PLAIN}{SPACES}]*"), re.compile(r"[\n\r\f\v]")
NOT_PLAIN = re.compile(f"[^{PLAIN}]+")


def composed(text: str) -> str:
    """Return a text in NFC, in which ñ is one character, however it was typed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def first_not_allowed(text: str) -> str:
    """Return the first character of a text that P does not have, or a line break at its end; "" where all are of P."""
    if not _ALLOWED.fullmatch(text):
        for character in text:
            if not is_letter(character) and not _ALLOWED.fullmatch(character):
                return character
    return text[-1] if text and _ENDING.match(text[-1]) else ""


def is_letter(character: str) -> bool:
    """Return whether a character is a letter of any alphabet, or a mark of one."""
    return unicodedata.category(character)[0] in "LM"


def shown(character: str) -> str:
    """Return a character as a message shows it: also one that cannot be seen."""
    code = f"U+{ord(character):04X}"
    return f"{character} ({code})" if character.isprintable() and character != " " else code


def tidied(text: str, max_length: int) -> str:
    """Return a name or an address as people type it in P: marks become those of ASCII, and pictures are left out."""
    letters = (letter if is_letter(letter) else _plain_sign(letter) for letter in composed(text))
    return "".join(letters)[:max_length].strip()


def plain(text: str, max_length: int | None = None) -> str:
    """Return a text in the ASCII part of P, for who takes no other letters: `Peña` is `Pena`."""
    return NOT_PLAIN.sub("", anyascii(text))[:max_length].strip()


def _plain_sign(sign: str) -> str:
    return "" if unicodedata.category(sign)[0] == "S" else NOT_PLAIN.sub("", anyascii(sign))
