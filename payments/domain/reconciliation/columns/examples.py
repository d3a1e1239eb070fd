"""Examples of files, from which layouts are made, and how a layout reads one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Self

from django.core import signing

from payments.concurrency.bounded_process import HostBusy
from payments.domain.reconciliation.columns import readers, tables
from payments.domain.reconciliation.columns.amounts import Typed
from payments.domain.reconciliation.columns.layout import AnyReport, AnyStatement
from payments.domain.reconciliation.files import BadReport, FileRow, line_in
from payments.domain.reconciliation.matcher import as_kept
from payments.providers.settlement_reports import Movement, SettlementLine

MOST_ROWS = MOST_COLUMNS = CELL_LENGTH = 200
# Signed, it goes with a form, whose fields may have twice as many.
EXAMPLE_CHARS = 64 * 1024
# Of all cells, so that they travel with a form.
FORM_CHARS = 48 * 1024
SALT = "kaha.layout-example"


@dataclass(frozen=True, slots=True)
class Sample:
    """The first rows of a file, without card numbers, and how it is written. `sheets` are those that it has."""

    rows: Sequence[FileRow]
    encoding: str = "utf-8"
    sheet: str = ""
    sheets: Sequence[str] = field(default_factory=list)

    def written(self) -> str:
        """Return it as a signed text, which travels with a form."""
        rows = [[row.number, [[cell] if isinstance(cell, Typed) else cell for cell in row.cells]] for row in self.rows]
        return signing.dumps([rows, self.encoding, self.sheet, self.sheets], salt=SALT, compress=True)

    @classmethod
    def read(cls, text: str) -> Self:
        """Return what `written` wrote; raise django.core.signing.BadSignature."""
        rows, *others = signing.loads(text, salt=SALT)
        typed = [
            (number, [cell if isinstance(cell, str) else Typed(cell[0]) for cell in cells]) for number, cells in rows
        ]
        return cls([FileRow(cells, 1, number) for number, cells in typed], *others)


@dataclass(slots=True)
class Preview:
    """What a layout makes of a sample: its lines, sums by kind and currency, and faults with the lines of the file."""

    lines: list[SettlementLine] = field(default_factory=list)
    sums: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    left_out: int = 0


def sample_of(raw: bytes, sheet: str = "") -> Sample:
    """Return the first rows of a file in CSV or Xlsx, of the named sheet or the first; raise BadReport."""
    if tables.is_sheet(raw):
        try:
            sheets, found = tables.sheet_of(raw, sheet, MOST_ROWS)
        except HostBusy as busy:
            raise BadReport(f"{busy}: send it again in a moment") from None
        return Sample(_masked(found), sheet=sheet, sheets=sheets)
    encoding = tables.encoding_of(raw)
    heads = tables.heads_of(tables.decoded(raw, encoding), EXAMPLE_CHARS, MOST_ROWS)
    _, rows = max(heads, key=lambda head: readers.cells_alike(head[1]))
    return Sample(_masked(rows), encoding)


def preview(sample: Sample, reader: AnyReport) -> Preview:
    """Return how a report's or a statement's reader reads a sample. What its layout has no column for is a fault."""
    found = Preview()
    try:
        reader.layout.check(is_bank=isinstance(reader, AnyStatement))
        header, rows = readers.entries([("", sample.rows)], reader, lambda _: iter(sample.rows), bool(sample.sheets))
    except (BadReport, ValueError) as fault:
        found.faults.append(str(fault))
        return found
    for row in rows:
        line = line_in(header, row.cells, reader)
        if line and line.kind is Movement.UNREAD:
            found.faults.append(f"line {row.number}, {line.word}")
        elif line:
            found.lines.append(replace(line, row=row.number))
            found.sums[line.kind, line.currency] += line.amount
    first = next((row.number for row in sample.rows if [*map(readers.named_as, row.cells)] == header), 0)
    found.left_out = sum(row.number > first for row in sample.rows) - len(found.lines) - len(found.faults)
    return found


def _masked(rows: Iterable[FileRow]) -> list[FileRow]:
    """Return rows without card numbers, of a bounded number of cells of a bounded length."""
    kept = [FileRow([*map(_shown, row.cells[:MOST_COLUMNS])], 1, row.number) for row in rows]
    lengths = accumulate(sum(map(len, row.cells)) for row in kept)
    return [row for row, length in zip(kept, lengths, strict=True) if length < FORM_CHARS]


def _shown(cell: str) -> str:
    return as_kept(cell) if isinstance(cell, Typed) else as_kept(cell[: 2 * CELL_LENGTH])[:CELL_LENGTH]
