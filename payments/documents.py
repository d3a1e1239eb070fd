"""JSON that is returned as it was sent, numbers digit for digit.

Python's own reader makes 100.0 of `1e2` and 1.1 of `1.10`. A number that Python would write otherwise is kept as a
`Number`, all others are what they always are, so that they cost nothing.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# No text of ours holds a NUL, so this is no part of one.
_MARK = "\0"
_MARKED = re.compile(r'"\\u0000([-+.0-9Ee]+)"')


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written."""

    text: str

    def __str__(self) -> str:
        return self.text


def number_of(text: str) -> float | Number:
    """The number that a JSON text with a fraction or exponent stands for."""
    value = float(text)
    return value if repr(value) == text else Number(text)


def integer_of(text: str) -> int | Number:
    """The number that a JSON text without either stands for."""
    return Number(text) if text == "-0" else int(text)


class Encoder(json.JSONEncoder):
    """Compact JSON in UTF-8, members in the order given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False, **options})

    def default(self, value: Any) -> Any:
        return _MARK + value.text if isinstance(value, Number) else super().default(value)

    def encode(self, value: Any) -> str:
        text = super().encode(value)
        # Only a mark, or a text with a backslash in it, is written so.
        return _MARKED.sub(r"\1", text) if "\\u0000" in text else text


DECODER = json.JSONDecoder(parse_float=number_of, parse_int=integer_of)
loads: Callable[[str], Any] = DECODER.decode
dumps: Callable[[Any], str] = Encoder().encode
dumps_indented: Callable[[Any], str] = Encoder(indent=2, separators=(",", ": ")).encode
# The same for the same members in any order.
dumps_sorted: Callable[[Any], str] = Encoder(sort_keys=True).encode
