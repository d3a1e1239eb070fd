"""JSON that is written back exactly as it was read, numbers digit for digit.

Python's decoder reads `1e2` as 100.0 and `1.10` as 1.1. A number that Python would write differently becomes a
`Number`; all others stay Python's.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

# No stored text contains a NUL.
_MARK = "\0"
_MARKED = re.compile(r'"\\u0000([-+.0-9Ee]+)"')


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its original text."""

    text: str

    def __str__(self) -> str:
        return self.text


def number_of(text: str) -> float | Number:
    """Return the value of a JSON number with a fraction or exponent."""
    value = float(text)
    # The two encoders write exponents differently.
    return value if repr(value) == text and "e" not in text else Number(text)


def integer_of(text: str) -> int | Number:
    """Return the value of a JSON integer."""
    return Number(text) if text == "-0" else int(text)


class Encoder(json.JSONEncoder):
    """Compact JSON in UTF-8, members in the order given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False, **options})

    def default(self, value: Any) -> Any:
        return _MARK + value.text if isinstance(value, Number) else super().default(value)

    def encode(self, value: Any) -> str:
        text = super().encode(value)
        # Only the mark, or a text with a backslash, is encoded like this.
        return _MARKED.sub(r"\1", text) if "\\u0000" in text else text


DECODER = json.JSONDecoder(parse_float=number_of, parse_int=integer_of)
loads: Callable[[str], Any] = DECODER.decode
dumps: Callable[[Any], str] = Encoder().encode
dumps_indented: Callable[[Any], str] = Encoder(indent=2, separators=(",", ": ")).encode


def to_bytes(value: Any, options: int = 0) -> bytes:
    """Return compact JSON in UTF-8, members in the order given or as the `options` of orjson say.

    orjson takes a fortieth of the time of Python's encoder, which writes what orjson cannot: whole numbers of more than
    64 bits.
    """
    try:
        return orjson.dumps(value, _raw, options | orjson.OPT_PASSTHROUGH_DATACLASS)
    except orjson.JSONEncodeError:
        return Encoder(sort_keys=bool(options & orjson.OPT_SORT_KEYS)).encode(value).encode()


def to_sorted_bytes(value: Any) -> bytes:
    """Return the same for equal members in any order."""
    return to_bytes(value, orjson.OPT_SORT_KEYS)


def _raw(value: Any) -> orjson.Fragment:
    if isinstance(value, Number):
        return orjson.Fragment(value.text)
    raise TypeError
