"""Files of rows and cells: CSV in the forms that spreadsheets and banks write, and the sheets of Xlsx."""

import codecs
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from io import BytesIO
from itertools import islice
from typing import Any
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile, ZipFile

import openpyxl
from defusedxml import DefusedXmlException

from payments.domain.reconciliation.columns.amounts import Typed
from payments.domain.reconciliation.files import BadReport, FileRow, filled

ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
SEPARATORS = ",;\t|"
# The header is among the first of them; before it may be a letterhead.
HEAD_ROWS = 40
HEAD_CHARS = 64 * 1024
# What a sheet may have. Bytes are those that its parts have unpacked.
MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_ROWS, MAX_CELLS = 200_000, 4_000_000
# A spreadsheet keeps no more digits of a number.
EXACT = 10**15
# What openpyxl and zipfile raise for damaged files.
DAMAGED = (
    *(BadZipFile, ParseError, DefusedXmlException, zlib.error, KeyError, ValueError, TypeError, IndexError),
    *(AttributeError, EOFError, OSError, NotImplementedError, RuntimeError),
)


def is_sheet(raw: bytes) -> bool:
    """Return whether a file is a spreadsheet; raise BadReport for one in a format that is not read."""
    if raw.startswith(OLE):
        raise BadReport("it is an old spreadsheet, or has a password: save it as Xlsx without one, or as CSV")
    return raw.startswith(ZIP)


def decoded(raw: bytes, encoding: str) -> str:
    """Return the text of a file by its byte order mark, else in `encoding`; raise BadReport where it is none."""
    mark = next(filter(raw.startswith, BYTE_ORDER_MARKS), b"")
    encoding = BYTE_ORDER_MARKS.get(mark, encoding)
    try:
        text = raw[len(mark) :].decode(encoding)
    except UnicodeError as fault:
        line = raw.count(b"\n", 0, getattr(fault, "start", 0)) + 1
        raise BadReport(f"line {line}: it is not in {encoding}; change the encoding in its layout") from None
    if "\0" in text:
        raise BadReport(f"it is no text in {encoding}")
    return text


def rows_of(text: str, separator: str) -> Iterator[FileRow]:
    """Yield the rows of a text, each cell as it is meant: a spreadsheet writes `="007"` for a text of digits."""
    for row in filled(text, separator):
        cells = [cell[2:-1] if cell[:2] == '="' and cell[-1] == '"' else cell for cell in row.cells]
        yield FileRow(cells, row.height, row.number)


def encoding_of(raw: bytes) -> str:
    """Return the encoding that a file has by its byte order mark and its bytes."""
    if raw[1:400:2].count(0) > len(raw[1:400:2]) // 2:
        return "utf-16-le"
    try:
        raw.decode("utf-8")
    except UnicodeError:
        return next((name for mark, name in BYTE_ORDER_MARKS.items() if raw.startswith(mark)), "windows-1252")
    return "utf-8"


def heads_of(text: str, chars: int = HEAD_CHARS, most: int = HEAD_ROWS) -> list[tuple[str, list[FileRow]]]:
    """Return the first rows of a text by each separator that it may have."""
    return [(each, list(islice(rows_of(text[:chars], each), most))) for each in SEPARATORS]


def sheet_names(raw: bytes) -> list[str]:
    """Return the names of the sheets of a file; raise BadReport."""
    with _opened(raw) as book:
        return [sheet.title for sheet in book.worksheets]


def sheet_rows(raw: bytes, name: str) -> Iterator[FileRow]:
    """Yield the rows of the named sheet of a file, or of the first; raise BadReport."""
    with _opened(raw) as book:
        names = [sheet.title for sheet in book.worksheets]
        if not names or (name and name not in names):
            raise BadReport(f"it has no sheet {name or 'with cells'}; its sheets are {', '.join(names[:5]) or 'none'}")
        sheet = book[name or names[0]]
        # Some programs write that a sheet has one cell.
        sheet.reset_dimensions()
        count = 0
        for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
            count += len(values)
            if number > MAX_ROWS or count > MAX_CELLS:
                raise BadReport(f"line {number}: it has more than {MAX_ROWS:,} rows or {MAX_CELLS:,} cells: split it")
            if any(value not in (None, "") for value in values):
                yield FileRow([_text_of(value) for value in values], 1, number)


@contextmanager
def _opened(raw: bytes) -> Iterator[Any]:
    """Yield the workbook in a file; raise BadReport for a damaged one, and for one that is too large unpacked."""
    try:
        with ZipFile(BytesIO(raw)) as parts:
            if sum(part.file_size for part in parts.infolist()) > MAX_UNPACKED_BYTES:
                raise BadReport(f"it has more than {MAX_UNPACKED_BYTES // 1024**2} MiB unpacked: split it by days")
        book = openpyxl.load_workbook(BytesIO(raw), read_only=True, data_only=True, keep_links=False)
        with closing(book):
            yield book
    except DAMAGED as fault:
        raise BadReport(f"it is no Xlsx file that can be read ({type(fault).__name__})") from None


def _text_of(value: object) -> str:
    """Return the text of a cell; numbers and times as the file has them, whatever their form on the screen."""
    if value is None:
        return ""
    if isinstance(value, datetime | date | time):
        return Typed(value.isoformat())
    if isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) >= EXACT:
            return f"{value:E}"
        # Sums of binary fractions are off at their end: 0.30000000000000004.
        number = f"{Decimal(repr(value)):.8f}".rstrip("0").rstrip(".")
        return Typed(number)
    return str(value)
