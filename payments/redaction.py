"""Takes card numbers, CVCs and keys out of anything that is about to be written somewhere.

It would rather hide a harmless number than show a card's: whatever could be one, is one.
"""

import re
from collections.abc import Mapping
from typing import Any

from payments.card_numbers import spans_of_card_numbers
from payments.plain_text import expanded, plain

HIDDEN = "[redacted]"
SECRET_NAMES = frozenset(
    ["authorization", "card_number", "cardnumber", "http_authorization", "number", "otp", "pan", "password"]
)
# Deeper than anything that is logged on purpose; what lies below is shown as text.
MAX_DEPTH = 8
# More than any text that is written on purpose; what is cut off need not be searched.
MAX_CHARACTERS = 32 * 1024
CUT = "[cut]"

# Our own IDs are hex digits, and now and then 13 of them in a row are decimal.
_UUID7 = r"(?<![0-9A-Za-z])[0-9a-f]{8}-?[0-9a-f]{4}-?7[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}(?![0-9A-Za-z])"
_DIGIT_RUN = r"[0-9](?:(?:[ \-+]|%20)?[0-9]){12,}"
_NUMBERS = re.compile(f"{_UUID7}|(?P<run>{_DIGIT_RUN})")
# A security code is quoted beside its card more often than anything else that is three or four digits.
_BESIDE = re.compile(r"[^0-9A-Za-z]{1,8}[0-9]{3,4}(?![0-9])")
# Blanks and what shows nothing, as JSON, Python and forms write them.
_ESCAPED = r"\\+(?:[bfnrtv]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2}"
_ESCAPE = re.compile(_ESCAPED)
_QUOTES = r"[\"'\\]*"
_VALUE = r"[^\s\"'\\,;&<}\])]+"
_CVC = r"(?:cv[cvn]2?|csc|security[ _-]?code)"
# How a name ends that is quoted, or stands in brackets, as in forms.
_NAME_END = r"(?:[\"'\\\]]|%5d|%22|&quot;)*"
# Possessive throughout: what stands between name and value is never tried again in another way.
_NAMED = re.compile(
    rf"((?:{_CVC}|otp){_NAME_END}+)"
    rf"(?:(\s*+(?:=>|[:=>]|%3a|%3d)\s*+{_QUOTES}+){_VALUE}|((?:\s*+,\s*+|\s++){_QUOTES}+)[0-9]{{3,4}}(?![0-9]))",
    re.IGNORECASE,
)
_CVC_NAME = re.compile(rf"(?:card[ _-]?)?{_CVC}", re.IGNORECASE)
_CVC_VALUE = re.compile(r"[0-9]{3,4}")
_KEY = re.compile(r"([spr]k_(?:live|test)_|whsec_)[A-Za-z0-9_\-+/=]{8,}")
_SCHEME = re.compile(r"\b(basic|bearer)\s+[A-Za-z0-9+/=._~\-]{8,}", re.IGNORECASE)
_AUTHORIZATION = re.compile(rf"(authorization{_QUOTES}\s*[:=]\s*{_QUOTES})(?:[A-Za-z]+\s+)?{_VALUE}", re.IGNORECASE)

# What `redact` and `redact_all` change has one of these in it, however it was escaped on its way into JSON.
_SUSPECT_NUMBER = re.compile(rf'[0-9](?:(?:{_ESCAPED}|[^0-9A-Za-z:"]){{0,6}}[0-9]){{12}}')
_SUSPECT_WORDS = (
    *("cvc", "cvv", "cvn", "csc", "security", "otp", "basic", "bearer", "authorization"),
    *("k_live_", "k_test_", "whsec_"),
    *(f'"{name}"' for name in SECRET_NAMES),
)


def suspicious(text: str) -> bool:
    """Whether text, which may be JSON, may hold anything that is taken out here: fast, and only ever too careful.

    Looking for one word after the other takes a third of the time that one pattern of all of them does.
    """
    if len(text) > MAX_CHARACTERS or _SUSPECT_NUMBER.search(plain(text)):
        return True
    lowered = text.lower()
    return any(word in lowered for word in _SUSPECT_WORDS)


def names_cvc(name: str, value: object) -> bool:
    """Whether a member of this name holds a security code."""
    return _CVC_NAME.fullmatch(name) is not None and _CVC_VALUE.fullmatch(str(value)) is not None


def redact(text: str) -> str:
    """`text` without card numbers (any 13 digits or more, but for our own IDs), CVCs and keys.

    One of more than MAX_CHARACTERS is cut before its last word there, and says so.
    """
    return without_words(_without_numbers(expanded(_cut(text))))


def without_words(text: str) -> str:
    """`text` without what its own words say is secret: CVCs, keys, authorizations."""
    text = _AUTHORIZATION.sub(rf"\1{HIDDEN}", text)
    text = _SCHEME.sub(rf"\1 {HIDDEN}", text)
    text = _NAMED.sub(lambda match: f"{match[1]}{match[2] or match[3]}{HIDDEN}", text)
    return _KEY.sub(rf"\1{HIDDEN}", text)


def redact_bytes(data: bytes) -> bytes:
    """`data`, which is UTF-8 or of another encoding that has ASCII in it, as `redact` makes it."""
    try:
        return _redact_encoded(data, "utf-8")
    except UnicodeDecodeError:
        return _redact_encoded(data, "latin-1")


def redact_all(value: Any, depth: int = 0) -> Any:
    """`value` with every text in it redacted, as something that JSON can express.

    Members whose name says that they are secret are hidden whatever they hold.
    """
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
    # The first digits of a number that is torn apart would no longer look like one.
    end = len(text[:MAX_CHARACTERS].rpartition(" ")[0])
    while end and not (text[end - 1].isascii() and text[end - 1].isalpha()):
        end -= 1
    return text[:end] + CUT


def _without_numbers(text: str) -> str:
    shown = plain(text)
    spans = [match.span("run") for match in _NUMBERS.finditer(shown) if match["run"]]
    spans += spans_of_card_numbers(_ESCAPE.sub(lambda match: " " * len(match[0]), shown))
    parts, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            parts += [text[position:start], HIDDEN]
        beside = _BESIDE.match(shown, end)
        position = max(position, beside.end() if beside else end)
    return "".join([*parts, text[position:]])


def _redact_member(name: object, value: Any, depth: int) -> Any:
    is_secret = str(name).lower() in SECRET_NAMES or _CVC_NAME.fullmatch(str(name))
    return HIDDEN if is_secret else redact_all(value, depth + 1)
