"""Settlement reports as CSV files in a provider's layout; a file is read whole or refused."""

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TextIO

from payments.domain.reconciliation.cells import Row
from payments.domain.reconciliation.layouts import Layout, SimulatorReport
from payments.providers.settlement_reports import SettlementLine

MAX_BYTES = 64 * 1024 * 1024
PROGRESS_EVERY = 1_000


class BadReport(Exception):
    """A fault in a report, with its line and column, and never the cell's content, which may be a secret."""


def read(path: Path, layout: Layout) -> list[SettlementLine]:
    """Return the lines of the report in a file, in order. Raises BadReport."""
    return parse(decode(_bytes_of(path)), layout)


def parse(text: str, layout: Layout, progress: Callable[[int], None] = lambda _: None) -> list[SettlementLine]:
    """Return the lines of a report, in order. Raises BadReport.

    `progress` is called with the number of the file's lines that are read, now and then.
    """
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return _lines(rows, layout, progress)
    except csv.Error as fault:
        raise BadReport(f"line {rows.line_num}: {fault}") from None
    except ValueError as fault:
        raise BadReport(f"line {max(rows.line_num, 1)}{fault}") from None


def write(lines: Iterable[SettlementLine], mapping: SimulatorReport, file: TextIO) -> int:
    """Write `lines` as the provider would; return how many."""
    out = csv.writer(file, lineterminator="\n")
    out.writerow(mapping.names)
    count = 0
    for line in lines:
        out.writerow(mapping.written(line))
        count += 1
    return count


def check_head(text: str, layout: Layout) -> None:
    """Raise BadReport unless the first line of a report has the columns of `layout`."""
    parse(text[: text.find("\n") + 1] or text, layout)


def decode(raw: bytes) -> str:
    """Return the text of a report. Raises BadReport unless it is UTF-8 and not larger than MAX_BYTES."""
    if len(raw) > MAX_BYTES:
        raise BadReport(f"it is larger than {MAX_BYTES // 1024**2} MiB; split it by days")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise BadReport(f"line {raw[: fault.start].count(10) + 1}: it is not UTF-8") from None


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise BadReport(fault.strerror or "it cannot be read") from None


def _lines(rows: Any, layout: Layout, progress: Callable[[int], None]) -> list[SettlementLine]:
    """Return the lines in the rows, without those that belong to no payment. Raises ValueError with the fault."""
    seen: dict[SettlementLine, int] = {}
    header: list[str] = next(rows, [])
    for name in layout.names:
        if header.count(name) != 1:
            raise ValueError(f", column {name}: must be there, once")
    for row in filter(None, rows):
        if len(row) != len(header):
            raise ValueError(f": {len(header)} columns are needed, here are {len(row)}")
        if not len(seen) % PROGRESS_EVERY:
            progress(rows.line_num)
        line = layout.line(Row(dict(zip(header, row, strict=True))))
        if line and not line.reference and not line.provider_ref:
            raise ValueError(": it must name the payment or operation")
        if line and seen.setdefault(line, rows.line_num) != rows.line_num:
            raise ValueError(f": this repeats line {seen[line]}")
    return list(seen)
