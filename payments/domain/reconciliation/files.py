"""Settlement reports as CSV files in a provider's layout; a file is read whole or refused."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from payments.domain.reconciliation.cells import Row
from payments.domain.reconciliation.layouts import Layout, SimulatorReport
from payments.providers.settlement_reports import SettlementLine

MAX_BYTES = 64 * 1024 * 1024


class BadReport(Exception):
    """A fault in a report, with its line and column, and never the cell's content, which may be a secret."""


def read(path: Path, layout: Layout) -> list[SettlementLine]:
    """Return the lines of a report, in order. Raises BadReport."""
    rows = csv.reader(io.StringIO(_text_of(path), newline=""), strict=True)
    try:
        return _lines(rows, layout)
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


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise BadReport(fault.strerror or "it cannot be read") from None
    if len(raw) > MAX_BYTES:
        raise BadReport(f"it is larger than {MAX_BYTES // 1024**2} MiB; split it by days")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise BadReport(f"line {raw[: fault.start].count(10) + 1}: it is not UTF-8") from None


def _lines(rows: Any, layout: Layout) -> list[SettlementLine]:
    """Return the lines in the rows, without those that belong to no payment. Raises ValueError with the fault."""
    seen: dict[SettlementLine, int] = {}
    header: list[str] = next(rows, [])
    for name in layout.names:
        if header.count(name) != 1:
            raise ValueError(f", column {name}: must be there, once")
    for row in filter(None, rows):
        if len(row) != len(header):
            raise ValueError(f": {len(header)} columns are needed, here are {len(row)}")
        line = layout.line(Row(dict(zip(header, row, strict=True))))
        if line and not line.reference and not line.provider_ref:
            raise ValueError(": it must name the payment or operation")
        if line and seen.setdefault(line, rows.line_num) != rows.line_num:
            raise ValueError(f": this repeats line {seen[line]}")
    return list(seen)
