"""Tables as CSV (RFC 4180) that a spreadsheet shows and never runs."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

# Some spreadsheets take a cell that begins with one of these for a formula (OWASP, CSV Injection), also behind blanks.
_SIGNS, _BLANKS = "=+@\\-\uff1d\uff0b\uff0d\uff20", ' "\N{NO-BREAK SPACE}'
# A cell begins where a text does, and inside it for a spreadsheet that separates cells by semicolons or tabs, or that
# ends a row at each new line; at a text's end, the next cell's quotation mark begins one. Commas separate nothing
# inside: with them, quotation marks hold a text together.
_FORMULA_BEGINS = re.compile(
    rf"^(?=[{_BLANKS}]*[{_SIGNS}\t\r\n])|(?:\r\n|[;\t\r\n])(?=[{_BLANKS}]*(?:[{_SIGNS}\t]|\r(?!\n)|\Z))"
)
# Spreadsheets show text that begins so as it is.
_AS_TEXT = "'"
# Without it some spreadsheets take UTF-8 for the code page of the machine.
BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


class _Line:
    """A file for `csv.writer` that returns each line."""

    def write(self, text: str) -> str:
        return text


def csv_lines(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """Yield the lines of a file with `heads` above `rows`, in UTF-8; None is an empty cell."""
    yield BYTE_ORDER_MARK.encode() + csv_line(heads)
    yield from map(csv_line, rows)


def csv_line(cells: Iterable[object]) -> bytes:
    """Return one line of a file; only integers and decimals are numbers."""
    line: str = csv.writer(_Line(), quoting=csv.QUOTE_NONNUMERIC).writerow(map(_safe, cells))
    return line.encode()


def _safe(cell: object) -> object:
    if cell is None or isinstance(cell, int | Decimal):
        return "" if cell is None else cell
    return _FORMULA_BEGINS.sub(rf"\g<0>{_AS_TEXT}", str(cell))
