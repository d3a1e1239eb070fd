"""The rows of a CSV, or of customers in JSON. What cannot be read is refused by its line, and never repeated."""

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from payments.json_codecs.verbatim_json import DECODER, dumps
from payments.rendering.csv import BYTE_ORDER_MARK

# Of a line of a CSV, and of a customer in JSON with all cards.
LINE_BYTES, CUSTOMER_LENGTH, CHUNK_LENGTH = 128 * 1024, 1024 * 1024, 64 * 1024
BETWEEN = re.compile(r"[\s,\]}]*")
HEAD = re.compile(rf'(?:\s*(?:\{{\s*"(?:customers|data)"\s*:\s*)?\[)?{BETWEEN.pattern}')


class BadRow(Exception):
    """A row that is refused; the message is the reason."""


Values = dict[str, str]
Row = tuple[int, Values | BadRow]


def rows_of(content: bytes) -> Iterator[Row]:
    """Yield each row with the line that it begins in."""
    begin = content[:CHUNK_LENGTH].removeprefix(BYTE_ORDER_MARK.encode()).lstrip()
    return (_json_rows if begin[:1] in (b"{", b"[") else _csv_rows)(io.BytesIO(content))


def _csv_rows(file: io.BytesIO) -> Iterator[Row]:
    names: list[str] = []
    reader = csv.reader(_lines(file), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            yield line, BadRow(f"{fault}; nothing was read up to line {reader.line_num}.")
            continue
        if not names:
            names = [name.strip().lower() for name in cells]
        elif len(cells) == len(names):
            yield line, dict(zip(names, cells, strict=True))
        elif cells:
            yield line, BadRow(f"There are {len(cells)} cells, and {len(names)} in the first row.")


def _lines(file: io.BytesIO) -> Iterator[str]:
    """Yield the lines of a file; in the place of one that is too long, a NUL, and of what is not UTF-8, its sign."""
    while line := file.readline(LINE_BYTES):
        text = line.decode(errors="replace").removeprefix(BYTE_ORDER_MARK)
        while not line.endswith(b"\n") and (line := file.readline(LINE_BYTES)):
            text = "\0"
        yield text


def _json_rows(file: io.BytesIO) -> Iterator[Row]:
    for line, customer in _customers(io.TextIOWrapper(file, "utf-8-sig", "replace")):
        if not isinstance(customer, dict):
            yield line, customer if isinstance(customer, BadRow) else BadRow("This is no customer.")
            continue
        kept = customer.get("cards") or customer.get("card") or customer.get("sources") or [{}]
        kept = kept.get("data", [kept]) if isinstance(kept, dict) else kept
        own = {name: _text(value) for name, value in customer.items() if name not in ("cards", "card", "sources")}
        for card in (isinstance(kept, list) and kept) or [{}]:
            members = card.items() if isinstance(card, dict) else ()
            yield line, own | {f"card.{name}": _text(value) for name, value in members}


def _customers(file: io.TextIOWrapper) -> Iterator[tuple[int, Any]]:
    """Yield each value of the list with its line. After one that is no JSON, nothing can be read."""
    text, line, skipped = file.read(CHUNK_LENGTH), 1, HEAD
    while True:
        start = skipped.match(text).end()  # type: ignore[union-attr] # it matches an empty text too
        line, text, skipped = line + text.count("\n", 0, start), text[start:], BETWEEN
        try:
            value, end = DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            more = file.read(CHUNK_LENGTH) if len(text) < CUSTOMER_LENGTH else ""
            if more:
                text += more
                continue
            if text:
                yield line, BadRow("This is no JSON, or too long. Nothing was read after it.")
            return
        yield line, value
        line, text = line + text.count("\n", 0, end), text[end:]


def _text(value: Any) -> str:
    """Return a value as a cell has it; of several references of a network, the first."""
    if isinstance(value, list):
        return _text(value[0]) if value else ""
    try:
        return value if isinstance(value, str) else "" if value is None else dumps(value)
    except (ValueError, RecursionError):  # such as NaN
        return "\0"
