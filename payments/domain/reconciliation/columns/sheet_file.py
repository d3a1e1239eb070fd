"""Read a sheet of an Xlsx file in a process of its own: the file is opened nowhere else.

Run as a script, it reads the name of the sheet (empty: the first), how many rows are wanted, and the file from its
input. It writes a line of JSON for the names of all sheets, and one for each row with something in it: its number and
its cells. A cell that is a number or a time in the file is a list of its text. A line that is a text says what is wrong
with the file, and is the last. It has no environment, imports nothing of kaha, and the system ends it where it takes
more time or memory.
"""

import json
import resource
import sys
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from io import BytesIO
from typing import Any
from zipfile import ZipFile

CPU_SECONDS = 120
MEMORY_BYTES = 512 * 1024**2
MAX_UNPACKED_BYTES = 200 * 1024**2
MAX_ROWS, MAX_CELLS, MAX_CHARS = 200_000, 4_000_000, 50_000_000
# A spreadsheet keeps no more digits of a number.
EXACT = 10**15


def lines(content: bytes, name: str, most: int) -> Iterator[Any]:
    """Yield the names of the sheets, and at most so many rows of one; or what is wrong."""
    from openpyxl import load_workbook

    with ZipFile(BytesIO(content)) as parts:
        if sum(part.file_size for part in parts.infolist()) > MAX_UNPACKED_BYTES:
            yield f"it has more than {MAX_UNPACKED_BYTES // 1024**2} MiB unpacked: split it by days"
            return
    book = load_workbook(BytesIO(content), read_only=True, data_only=True, keep_links=False)
    names = [sheet.title for sheet in sorted(book.worksheets, key=lambda sheet: sheet.sheet_state != "visible")]
    yield names
    if not names or (name and name not in names):
        yield f"it has no sheet {name or 'with cells'}; its sheets are {', '.join(names[:5]) or 'none'}"
        return
    sheet = book[name or names[0]]
    # Some programs write that a sheet has one cell.
    sheet.reset_dimensions()
    yield from rows(sheet.iter_rows(values_only=True), most)


def rows(found: Iterable[tuple[object, ...]], most: int) -> Iterator[Any]:
    """Yield the rows that have something in them, or what is wrong."""
    cells = given = chars = 0
    for number, values in enumerate(found, 1):
        cells += len(values)
        chars += sum(len(value) for value in values if isinstance(value, str))
        if number > MAX_ROWS or cells > MAX_CELLS or chars > MAX_CHARS:
            yield f"line {number}: it has more than {MAX_ROWS:,} rows, {MAX_CELLS:,} cells or {MAX_CHARS:,} characters"
            return
        if any(value not in (None, "") for value in values):
            yield number, [text_of(value) for value in values]
            given += 1
        if given == most:
            return


def text_of(value: object) -> str | list[str]:
    """Return the text of a cell, in a list where the file has a number or a time, whatever its form on the screen."""
    if value is None:
        return ""
    if isinstance(value, datetime | date | time):
        return [value.isoformat()]
    if isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) >= EXACT:
            return f"{value:E}"
        # Sums of binary fractions are off at their end: 0.30000000000000004.
        return [f"{Decimal(repr(value)):.8f}".rstrip("0").rstrip(".")]
    return str(value)


def main() -> None:
    """Write the lines of what comes in, within the limits."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    name, most = json.loads(sys.stdin.buffer.readline())
    for line in lines(sys.stdin.buffer.read(), name, most):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
