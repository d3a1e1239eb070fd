"""A scanner for marked cards in bytes: plain, in groups of four, in hex, base64 and percent-encoded."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.canaries.marks import CVCS, MARK, in_groups

SEPARATORS = ("", " ", "-", "\u00a0", "%20", "+")
CVC_NAMES = ('"cvc":"', '"cvc": "', "'cvc': '", "cvc=", '"cvv":"')
CONTEXT_BYTES = 40
# A code alone is four digits that are no part of a longer word, decimal fraction, UUID or ID shortened by an ellipsis.
# The digits are looked for first, for speed.
CVC_ALONE = re.compile(
    rb"(?:%s)(?<![0-9A-Za-z.\-].{4})(?<!%s.{4})(?![0-9A-Za-z\-])" % ("|".join(CVCS).encode(), "…".encode()), re.DOTALL
)


@dataclass(frozen=True)
class Finding:
    """A trace of a card: its form, its place and the text around it."""

    form: str
    where: str
    around: bytes

    def __str__(self) -> str:
        return f"{self.where}: {self.form} in {self.around!r}"


def findings(data: bytes, where: str = "") -> Iterator[Finding]:
    """Yield one finding for each form in which `data` has a card."""
    for needle, form in NEEDLES.items():
        if (start := data.find(needle)) >= 0:
            yield Finding(form, where, _around(data, start))
    if match := CVC_ALONE.search(data):
        yield Finding("security code", where, _around(data, match.start()))


def all_findings(parts: Iterable[tuple[str, bytes]]) -> list[Finding]:
    """Return the findings in all `parts`, which have names."""
    return [finding for where, data in parts for finding in findings(data, where)]


def base64_of(text: str) -> list[bytes]:
    """Return the base64 text that any encoding of `text` contains, for each offset in a group of three."""
    data, parts = text.encode(), []
    for before in range(3):
        bits = 8 * (before + len(data))
        parts.append(b64encode(bytes(before) + data)[-(-8 * before // 6) : bits // 6])
    return parts


def _around(data: bytes, start: int) -> bytes:
    return data[max(0, start - CONTEXT_BYTES) : start + CONTEXT_BYTES]


def _encoded(text: str) -> Iterator[tuple[bytes, str]]:
    data = text.encode()
    yield data.hex().encode(), "hex"
    yield data.hex().upper().encode(), "hex"
    yield "".join(f"%{byte:02X}" for byte in data).encode(), "percent-encoded"
    yield from ((needle, "base64") for needle in base64_of(text))


def _needles() -> Iterator[tuple[bytes, str]]:
    for separator in SEPARATORS:
        number = in_groups(MARK, separator)
        yield number.encode(), f"number, separated by {separator!r}"
        yield from ((needle, f"number in {form}") for needle, form in _encoded(number))
    for text in (f"{name}{cvc}" for name in CVC_NAMES for cvc in CVCS):
        yield from ((needle, f"security code in {form}") for needle, form in _encoded(text))


NEEDLES = dict(_needles())
