"""Files of rows and cells: CSV in the forms that spreadsheets and banks write, and the sheets of Xlsx."""

import codecs
import json
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from payments.concurrency.bounded_process import Ended, output_of
from payments.domain.reconciliation.columns import sheet_file
from payments.domain.reconciliation.columns.amounts import Typed
from payments.domain.reconciliation.files import BadReport, FileRow, filled
from payments.domain.reconciliation.matcher import as_kept

ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
SEPARATORS = ",;\t|"
# The header is among the first of them; before it may be a letterhead.
HEAD_ROWS = 40
HEAD_CHARS = 64 * 1024
# A page that looks at the first rows waits for less.
SHEET_SECONDS, HEAD_SECONDS = 240, 20


def is_sheet(raw: bytes) -> bool:
    """Return whether a file is a spreadsheet; raise BadReport for one in a format that is not read."""
    if raw.startswith(OLE):
        raise BadReport("it is an old spreadsheet, or has a password: save it as Xlsx without one, or as CSV")
    return raw.startswith(ZIP)


def sheet_of(raw: bytes, name: str, most: int) -> tuple[list[str], Iterator[FileRow]]:
    """Return the names of a file's sheets, and the first `most` rows of the named one, or of the first.

    Raise BadReport, also while the rows are read, and HostBusy.
    """
    asked = json.dumps([name, most]).encode() + b"\n" + raw
    seconds = SHEET_SECONDS if most < 0 else HEAD_SECONDS
    try:
        lines: Any = map(json.loads, BytesIO(output_of(Path(sheet_file.__file__), asked, seconds)))
    except Ended:
        raise BadReport("it is no Xlsx file that can be read, or one that takes too much time or memory") from None
    names = [*map(as_kept, _line(next(lines)))]
    return names, (FileRow(_cells(line), 1, number) for number, line in map(_line, lines))


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


def encoding_of(raw: bytes) -> str:
    """Return the encoding that a file has by its byte order mark and its bytes."""
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if raw[first:400:2].count(0) > len(raw[first:400:2]) // 2:
            return encoding
    mark = next(filter(raw.startswith, BYTE_ORDER_MARKS), b"")
    for encoding in (BYTE_ORDER_MARKS.get(mark, "utf-8"), "windows-1252", "shift_jis", "gb18030"):
        with suppress(UnicodeError):
            raw.decode(encoding)
            return encoding
    return "windows-1252"


def heads_of(text: str, chars: int = HEAD_CHARS, most: int = HEAD_ROWS) -> list[tuple[str, list[FileRow]]]:
    """Return the first rows of a text by each separator that it may have."""
    return [(each, list(islice(rows_of(text[:chars], each), most))) for each in SEPARATORS]


def rows_of(text: str, separator: str) -> Iterator[FileRow]:
    """Yield the rows of a text, each cell as it is meant: a spreadsheet writes `="007"` for a text of digits."""
    for row in filled(text, separator):
        cells = [cell[2:-1] if cell[:2] == '="' and cell[-1] == '"' else cell for cell in row.cells]
        yield FileRow(cells, row.height, row.number)


def _line(line: Any) -> Any:
    if isinstance(line, str):
        # It may have the names of sheets.
        raise BadReport(as_kept(line))
    return line


def _cells(cells: list[str | list[str]]) -> list[str]:
    return [cell if isinstance(cell, str) else Typed(cell[0]) for cell in cells]
