"""Redaction of card numbers, CVCs and keys in anything that is logged or stored.

In doubt a number is hidden: a harmless number may be redacted, a card number must never be shown.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from payments.sensitive_data.card_numbers import POSSIBLE_ON_CARD, holds_card_number, spans_of_card_numbers
from payments.sensitive_data.plain_text import ESCAPED, expanded, plain

HIDDEN = "[redacted]"
SECRET_NAMES = frozenset(
    ["authorization", "card_number", "cardnumber", "http_authorization", "number", "otp", "pan", "password"]
)
# Deeper than anything that is logged on purpose; what is nested deeper is redacted as text.
MAX_DEPTH = 8
# Longer than any text that is logged on purpose; the rest is cut off and not searched.
MAX_CHARACTERS = 32 * 1024
CUT = "[cut]"
KEPT, NOT_PRINTABLE = "\n\t", "·"

# Own IDs are hex digits, of which 13 in a row may be decimal.
_UUID7 = r"(?<![0-9A-Za-z])[0-9a-f]{8}-?[0-9a-f]{4}-?7[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}(?![0-9A-Za-z])"
_DIGIT_RUN = r"[0-9](?:(?:[ \-+]|%20)?[0-9]){12,}"
_OWN_ID = re.compile(_UUID7)
_NUMBERS = re.compile(f"{_UUID7}|(?P<run>{_DIGIT_RUN})")
# Three or four digits after a card number are taken for its security code.
_BESIDE = re.compile(r"[^0-9A-Za-z]{1,8}[0-9]{3,4}(?![0-9])")
_ESCAPE = re.compile(ESCAPED)
_QUOTES = r"[\"'\\]*"
_VALUE = r"[^\s\"'\\,;&<}\])]+"
_CVC = r"(?:cv[cvn]2?|csc|security[ _-]?code)"
# The end of a name that is quoted or in brackets, as in forms.
_NAME_END = r"(?:[\"'\\\]]|%5d|%22|&quot;)*"
# Possessive quantifiers, so that the text between name and value is never matched in another way.
_NAMED = re.compile(
    rf"((?:{_CVC}|otp){_NAME_END}+)"
    rf"(?:(\s*+(?:=>|[:=>]|%3a|%3d)\s*+{_QUOTES}+){_VALUE}|((?:\s*+,\s*+|\s++){_QUOTES}+)[0-9]{{3,4}}(?![0-9]))",
    re.IGNORECASE,
)
_CVC_NAME = re.compile(rf"(?:card[ _-]?)?{_CVC}", re.IGNORECASE)
_CVC_VALUE = re.compile(r"[0-9]{3,4}")
_KEY = re.compile(r"([spra]k_(?:live|test)_|whsec_)[A-Za-z0-9_\-+/=]{8,}")
_SCHEME = re.compile(r"\b(basic|bearer)\s+[A-Za-z0-9+/=._~\-]{8,}", re.IGNORECASE)
_AUTHORIZATION = re.compile(rf"(authorization{_QUOTES}\s*[:=]\s*{_QUOTES})(?:[A-Za-z]+\s+)?{_VALUE}", re.IGNORECASE)

# Everything that `redact` and `redact_all` change matches one of these, also escaped in JSON. What begins within a run
# of digits begins with the run, too.
_SUSPECT_NUMBER = re.compile(
    rf'(?<![0-9])(?:[0-9](?:(?:{ESCAPED}|[^0-9A-Za-z:"]){{0,6}}[0-9]){{12}}|{POSSIBLE_ON_CARD})'
)
_SUSPECT_ESCAPES = re.compile(rf"(?:{ESCAPED}){{13}}")
_SUSPECT_WORDS = (
    *("cvc", "cvv", "cvn", "csc", "security", "otp", "basic", "bearer", "authorization"),
    *("k_live_", "k_test_", "whsec_"),
    *(f'"{name}"' for name in SECRET_NAMES),
)


def suspicious(text: str) -> bool:
    """Return whether `text`, which may be JSON, may contain something to redact; fast, with false positives only.

    A search for one word after the other takes a third of the time of one pattern for all.
    """
    if len(text) > MAX_CHARACTERS or _has_suspect_number(plain(text)):
        return True
    if sum(map(text.count, "%&\\")) > 12 and _SUSPECT_ESCAPES.search(text):
        return True
    lowered = text.lower()
    for word in _SUSPECT_WORDS:  # noqa: SIM110 # a generator is called again for each word
        if word in lowered:
            return True
    return False


def _has_suspect_number(text: str) -> bool:
    """Return whether so many digits follow each other anywhere but within an own ID, as they do in every thirtieth."""
    found = [match.span() for match in _SUSPECT_NUMBER.finditer(text)]
    ids = [match.span() for match in _OWN_ID.finditer(text)] if found else []
    return any(not any(first <= start and end <= last for first, last in ids) for start, end in found)


def names_cvc(name: str, value: object) -> bool:
    """Return whether a member with this name and value is a security code."""
    return _CVC_NAME.fullmatch(name) is not None and _CVC_VALUE.fullmatch(str(value)) is not None


def redact(text: str) -> str:
    """Return `text` without card numbers (any 13 digits or more, except own IDs), CVCs and keys.

    A text of more than MAX_CHARACTERS is cut after a word, and marked.
    """
    whole = expanded(_cut(text))
    shown = plain(whole)
    spans = [match.span("run") for match in _NUMBERS.finditer(shown) if match["run"]]
    spans += spans_of_card_numbers(_ESCAPE.sub(lambda match: " " * len(match[0]), shown))
    hidden = _hide(whole, sorted(spans))
    return without_words(HIDDEN if holds_card_number(hidden) else hidden)


def without_card_numbers(text: str) -> str:
    """Return `text` without card numbers, and otherwise as it is: other long numbers stay.

    It is hidden as a whole where a number is found only among its escapes.
    """
    if not holds_card_number(text):
        return text
    hidden = _hide(expanded(text), sorted(spans_of_card_numbers(text)))
    return HIDDEN if holds_card_number(hidden) else hidden


def shortened(text: str, length: int) -> str:
    """Return at most `length` characters of `text`, cut after its card numbers are hidden: none finds half of one."""
    return text if len(text) <= length else without_card_numbers(text)[:length]


def without_words(text: str) -> str:
    """Return `text` without values that are named as secret: CVCs, keys, authorizations."""
    text = _AUTHORIZATION.sub(rf"\1{HIDDEN}", text)
    text = _SCHEME.sub(rf"\1 {HIDDEN}", text)
    text = _NAMED.sub(lambda match: f"{match[1]}{match[2] or match[3]}{HIDDEN}", text)
    return _KEY.sub(rf"\1{HIDDEN}", text)


def redact_bytes(data: bytes) -> bytes:
    """Return redacted `data`, in UTF-8 or another encoding that contains ASCII."""
    try:
        return _redact_encoded(data, "utf-8")
    except UnicodeDecodeError:
        return _redact_encoded(data, "latin-1")


def readable(answer: bytes) -> str:
    """Return the answer of a webhook receiver as text, without card numbers, keys and control characters."""
    text = redact(answer.decode("utf-8", "replace").replace("\r\n", "\n"))
    return "".join(letter if letter.isprintable() or letter in KEPT else NOT_PRINTABLE for letter in text)


def redact_all(value: Any, depth: int = 0) -> Any:
    """Return `value` as JSON types with every text redacted, and members with a secret name hidden."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return value if redact(repr(value)) == repr(value) else HIDDEN
    if depth < MAX_DEPTH:
        if isinstance(value, Mapping):
            return {redact(str(name)): _redact_member(name, inner, depth) for name, inner in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [redact_all(inner, depth + 1) for inner in value]
    return redact(str(value))


def _redact_encoded(data: bytes, encoding: str) -> bytes:
    text = data.decode(encoding)
    return redact(text).encode(encoding) if suspicious(text) else data


def _cut(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    # Not within a number, because its first digits alone would not be detected.
    end = len(text[:MAX_CHARACTERS].rpartition(" ")[0])
    while end and not (text[end - 1].isascii() and text[end - 1].isalpha()):
        end -= 1
    return text[:end] + CUT


def _hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return `text` with HIDDEN in place of each span, and of a security code beside it."""
    shown = plain(text)
    parts, position = [], 0
    for start, end in spans:
        if start >= position:
            parts += [text[position:start], HIDDEN]
        beside = _BESIDE.match(shown, end)
        position = max(position, beside.end() if beside else end)
    return "".join([*parts, text[position:]])


def _redact_member(name: object, value: Any, depth: int) -> Any:
    is_secret = str(name).lower() in SECRET_NAMES or _CVC_NAME.fullmatch(str(name))
    return HIDDEN if is_secret else redact_all(value, depth + 1)
