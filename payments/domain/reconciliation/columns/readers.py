"""Files read by a layout: providers' reports, and statements of our bank."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from payments.concurrency.bounded_process import HostBusy
from payments.domain.reconciliation.bank.statements import ReadStatement
from payments.domain.reconciliation.columns import tables
from payments.domain.reconciliation.columns.layout import AnyReport, AnyStatement, is_left_out
from payments.domain.reconciliation.files import BadReport, FileRow, head_among, lines_in
from payments.providers.settlement_reports import SettlementLine

Progress = Callable[[int], None]
ALL_ROWS = -1
# The first rows by each separator.
Heads = Sequence[tuple[str, Sequence[FileRow]]]


def check(raw: bytes, reader: AnyReport) -> None:
    """Raise BadReport unless a file has the columns of the reader's layout, or where the host has no time for it."""
    try:
        _table(raw, reader, tables.HEAD_ROWS)
    except HostBusy as busy:
        raise BadReport(f"{busy}: send it again in a moment") from None


def lines_of(raw: bytes, reader: AnyReport, progress: Progress = lambda _: None) -> list[SettlementLine]:
    """Return the lines of a file, in order, also of rows that cannot be read; raise BadReport, also for none.

    Raise HostBusy where a spreadsheet may be read later.
    """
    header, rows = _table(raw, reader, ALL_ROWS)
    lines = lines_in(header, rows, reader, progress)
    if not lines:
        raise BadReport("no entries: none of its rows is a movement")
    return lines


def statement_of(raw: bytes, reader: AnyStatement, progress: Progress = lambda _: None) -> ReadStatement:
    """Return the movements of a bank account in a file, as a statement without balances; raise as that does."""
    lines = lines_of(raw, reader, progress)
    return ReadStatement("", reader.account.last4, reader.account.currency, lines=lines)


def entries(
    heads: Heads, reader: AnyReport, rows: Callable[[str], Iterator[FileRow]], pads: bool
) -> tuple[list[str], Iterator[FileRow]]:
    """Return the header of a table and its rows of movements; raise BadReport where a column is missing.

    `rows` returns all by a separator. A sheet has no empty cells at the end of a row: it `pads` them.
    """
    layout = reader.layout
    if layout.has_header:
        named = [(each, FileRow([*map(named_as, row.cells)], 1, row.number)) for each, head in heads for row in head]
        separator, head = head_among(named, reader)
    else:
        separator, first = max(heads, key=lambda head: cells_alike(head[1]))
        width = max((len(row.cells) for row in first), default=0) if pads else cells_alike(first)[1]
        numbered = FileRow([str(place) for place in range(1, width + 1)], 1, 0)
        separator, head = head_among([(separator, numbered)], reader)
    return head.cells, _movements(rows(separator), head, layout.skipped, pads)


def cells_alike(rows: Sequence[FileRow]) -> tuple[int, int]:
    """Return how many cells are in rows of the width that most have, and it; zeros where that is one cell."""
    widths = Counter(len(row.cells) for row in rows if len(row.cells) > 1)
    return max(((width * count, width) for width, count in widths.items()), default=(0, 0))


def named_as(header: str) -> str:
    """Return the name of a column by its header, which may have line breaks."""
    return " ".join(header.split())


def _movements(rows: Iterator[FileRow], head: FileRow, skipped: tuple[str, ...], pads: bool) -> Iterator[FileRow]:
    """Yield the rows below the header but those that are `skipped`, such as sums."""
    for row in rows:
        if row.number > head.number and not is_left_out(row.cells, skipped):
            missing = len(head.cells) - len(row.cells) if pads else 0
            yield FileRow([*row.cells, *[""] * missing], row.height, row.number)


def _table(raw: bytes, reader: AnyReport, most: int) -> tuple[list[str], Iterator[FileRow]]:
    if tables.is_sheet(raw):
        _, sheet = tables.sheet_of(raw, reader.layout.sheet, most)
        head = list(islice(sheet, tables.HEAD_ROWS))
        return entries([("", head)], reader, lambda _: chain(head, sheet), pads=True)
    text = tables.decoded(raw, reader.layout.encoding)
    return entries(tables.heads_of(text), reader, lambda separator: tables.rows_of(text, separator), pads=False)
