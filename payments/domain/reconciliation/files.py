"""Settlement reports as CSV files in a provider's layout, read as far as they can be.

A row that cannot be read becomes a line with the reason: what other businesses of the same account write into their
rows hinders no row of ours.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TextIO

from payments.domain.reconciliation.cells import ReportRow
from payments.domain.reconciliation.layouts import Layout, SimulatorReport
from payments.providers.settlement_reports import Movement, SettlementLine

MAX_BYTES = 64 * 1024 * 1024
PROGRESS_EVERY = 1_000
# The header is among the first characters and rows, so that a request checks it quickly in any file. Before it may be a
# title, or `sep=;`, by which spreadsheets know the separator.
HEAD_CHARS = 64 * 1024
HEAD_ROWS = 10
# Spreadsheets of many countries write the second.
SEPARATORS = ",;\t"
# Each becomes an item for operators, and a report of a provider has few.
MOST_UNREAD = 1_000


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row with something in it, on how many lines of the file it is, and the last of them.

    One that is no CSV has no cells.
    """

    cells: list[str]
    height: int
    number: int


class BadReport(Exception):
    """A fault in a report, with its line and column, and never the cell's content, which may be a secret."""


def content(path: Path) -> bytes:
    """Return the content of a file, of a larger one so much that it is seen to be. Raises BadReport."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise BadReport(fault.strerror or "it cannot be read") from None


def parse(text: str, layout: Layout, progress: Callable[[int], None] = lambda _: None) -> list[SettlementLine]:
    """Return the lines of a report, in order, also of rows that cannot be read.

    `progress` is called with the number of rows that are read, now and then and at the end. Raises BadReport for other
    columns, and where more than MOST_UNREAD rows or all that move money cannot be read.
    """
    separator, header_line = check_head(text, layout)
    rows = filled(text, separator)
    header = next(row.cells for row in rows if row.number == header_line)
    return lines_in(header, rows, layout, progress)


def lines_in(
    header: list[str], rows: Iterable[FileRow], layout: Layout, progress: Callable[[int], None] = lambda _: None
) -> list[SettlementLine]:
    """Return the lines in the rows below a header, as `parse` does."""
    lines, faults, count = list[SettlementLine](), list[str](), 0
    for count, line in enumerate(_lines(header, rows, layout), 1):
        if line:
            lines.append(line)
        if line and line.kind is Movement.UNREAD:
            faults.append(f"line {line.row}{', ' if line.word.startswith('column') else ': '}{line.word}")
        if len(faults) > MOST_UNREAD:
            raise BadReport(f"{faults[0]}; {MOST_UNREAD:,} more rows cannot be read")
        if not count % PROGRESS_EVERY:
            progress(count)
    if faults and len(faults) == len(lines):
        raise BadReport(faults[0])
    if not count and not layout.covers_days:
        raise BadReport("no entries: it has no row below its header")
    progress(count)
    return lines


def write(lines: Iterable[SettlementLine], mapping: SimulatorReport, file: TextIO) -> int:
    """Write `lines` as the provider would; return how many."""
    out = csv.writer(file, lineterminator="\n")
    out.writerow(mapping.names)
    count = 0
    for line in lines:
        out.writerow(mapping.written(line))
        count += 1
    return count


def check_head(text: str, layout: Layout) -> tuple[str, int]:
    """Return what separates the cells of a report, and the line of its header.

    The header is the row among the first HEAD_ROWS that has most of the columns of `layout`. Raises BadReport unless it
    has all of them.
    """
    heads = [(each, row) for each in SEPARATORS for row in islice(filled(text[:HEAD_CHARS], each), HEAD_ROWS)]
    separator, head = head_among(heads, layout)
    return separator, head.number


def head_among(heads: Iterable[tuple[str, FileRow]], layout: Layout) -> tuple[str, FileRow]:
    """Return which of these rows, each with its separator, is the header of `layout`; raise BadReport, as above."""
    separator, head = max(
        heads, key=lambda head: len({*head[1].cells} & {*layout.names}), default=(",", FileRow([], 1, 1))
    )
    for name in layout.names:
        if head.cells.count(name) != 1:
            raise BadReport(f"line {head.number}, column {name}: must be there, once")
    return separator, head


def rows_in(text: str) -> int:
    """Return about how many rows a report has below its header: a line break within a cell counts too."""
    lines = text.strip()
    return lines.count("\n") or lines.count("\r")


def decode(raw: bytes) -> str:
    """Return the text of a report. Raises BadReport where it is larger than MAX_BYTES, or no text.

    U+FFFD stands for each byte that is not UTF-8: a cell with one is refused where it is read.
    """
    if len(raw) > MAX_BYTES:
        raise BadReport(f"it is larger than {MAX_BYTES // 1024**2} MiB; split it by days")
    if b"\0" in raw:
        raise BadReport("it is no text in UTF-8, so it is no CSV file")
    return raw.decode("utf-8-sig", errors="replace")


def filled(text: str, separator: str) -> Iterator[FileRow]:
    """Yield the rows of a CSV file."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        before = rows.line_num
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield FileRow([], rows.line_num - before, rows.line_num)
        else:
            if any(cells):
                yield FileRow(cells, rows.line_num - before, rows.line_num)


def _lines(header: list[str], rows: Iterable[FileRow], layout: Layout) -> Iterator[SettlementLine | None]:
    """Yield for each row its line, or None where it belongs to no payment or moves nothing. Raises BadReport."""
    for row in rows:
        if row.height > 1 and len(row.cells) != len(header):
            raise BadReport(f"line {row.number - row.height + 1}: a quote is not closed, so its end is not known")
        line = line_in(header, row.cells, layout)
        yield replace(line, row=row.number) if line else None


def line_in(header: list[str], cells: list[str], layout: Layout) -> SettlementLine | None:
    """Return the line of a row, unread where it cannot be; None where it belongs to no payment or moves nothing."""
    if not cells:
        return SettlementLine.unread("", "", "its quotes are not those of a CSV file")
    # Spreadsheets may add empty cells; a row that is cut off may also have an amount that is.
    if len(cells) < len(header) or any(cells[len(header) :]):
        return SettlementLine.unread("", "", f"{len(header)} columns are needed, here are {len(cells)}")
    row = ReportRow(dict(zip(header, cells, strict=False)))
    try:
        line = layout.line(row)
    except ValueError as fault:
        return SettlementLine.unread(*_names_in(row, layout), str(fault))
    if line and not line.reference and not line.provider_ref and line.kind is not Movement.BOOKED:
        return SettlementLine.unread("", "", "it must name the payment or operation")
    return line


def _names_in(row: ReportRow, layout: Layout) -> tuple[str, str]:
    """Return the names of the payment or operation in a row that cannot be read, as far as they can be."""
    try:
        return layout.names_in(row)
    except ValueError:
        return "", ""
