"""Settlement reports as CSV files, read by a provider's mapping; a file is taken whole or refused."""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import astuple
from pathlib import Path
from typing import TextIO, TypeVar

from payments.domain.reconciliation import cells
from payments.domain.reconciliation.mappings import CsvMapping
from payments.providers.base import SettlementLine

MOST_BYTES = 64 * 1024 * 1024
Value = TypeVar("Value")


class BadReport(Exception):
    """What is wrong with a report, in which line and column; never what stands there, which may be a secret."""


def read(path: Path, mapping: CsvMapping) -> list[SettlementLine]:
    """The lines of a report, in order. Raises BadReport."""
    rows = csv.reader(io.StringIO(_text_of(path), newline=""), strict=True)
    seen: dict[SettlementLine, int] = {}
    try:
        table = _Table(next(rows, []), mapping)
        for row in filter(None, rows):
            _remember(seen, table.line(row), rows.line_num)
    except csv.Error as fault:
        raise BadReport(f"line {rows.line_num}: {fault}") from None
    except ValueError as fault:
        raise BadReport(f"line {max(rows.line_num, 1)}{fault}") from None
    return list(seen)


def write(lines: Iterable[SettlementLine], mapping: CsvMapping, file: TextIO) -> int:
    """Writes `lines` as the provider would; returns how many."""
    out = csv.writer(file, lineterminator="\n")
    out.writerow(astuple(mapping.columns))
    names = {movement: name for name, movement in mapping.kinds.items()}
    count = 0
    for line in lines:
        amount = cells.write_amount(line.amount, line.kind, line.currency, mapping)
        moment = cells.write_moment(line.booked_at, mapping)
        out.writerow([line.reference, line.provider_ref, names[line.kind], amount, line.currency, moment])
        count += 1
    return count


def _remember(seen: dict[SettlementLine, int], line: SettlementLine, number: int) -> None:
    if seen.setdefault(line, number) != number:
        raise ValueError(f": this is line {seen[line]} again")


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as fault:
        raise BadReport(fault.strerror or "it cannot be read") from None
    if len(raw) > MOST_BYTES:
        raise BadReport(f"it is larger than {MOST_BYTES // 1024**2} MiB; split it by days")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise BadReport(f"line {raw[: fault.start].count(10) + 1}: it is not UTF-8") from None


class _Table:
    """The rows below one header. Raises ValueError with where in its line the fault is, and what should be there."""

    def __init__(self, header: list[str], mapping: CsvMapping) -> None:
        self.mapping = mapping
        self.width = len(header)
        for name in astuple(mapping.columns):
            if header.count(name) != 1:
                raise ValueError(f", column {name}: must be there, once")
        self.places = {name: header.index(name) for name in astuple(mapping.columns)}

    def line(self, row: list[str]) -> SettlementLine:
        if len(row) != self.width:
            raise ValueError(f": {self.width} columns are needed, here are {len(row)}")
        mapping, columns = self.mapping, self.mapping.columns
        kind = self._cell(row, columns.kind, lambda text: cells.read_kind(text, mapping))
        currency = self._cell(row, columns.currency, cells.read_currency)
        line = SettlementLine(
            reference=self._cell(row, columns.reference, cells.read_reference),
            provider_ref=self._cell(row, columns.provider_ref, cells.read_reference),
            kind=kind,
            amount=self._cell(row, columns.amount, lambda text: cells.read_amount(text, kind, currency, mapping)),
            currency=currency,
            booked_at=self._cell(row, columns.booked_at, lambda text: cells.read_moment(text, mapping)),
        )
        if not line.reference and not line.provider_ref:
            raise ValueError(f", column {columns.reference}: must name the operation, or {columns.provider_ref} must")
        return line

    def _cell(self, row: list[str], column: str, read: Callable[[str], Value]) -> Value:
        try:
            return read(row[self.places[column]])
        except ValueError as fault:
            raise ValueError(f", column {column}: {fault}") from None
