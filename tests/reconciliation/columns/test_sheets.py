"""Xlsx files that are damaged, hostile or too large are refused before they cost much."""

from io import BytesIO
from random import Random
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from payments.domain.reconciliation.columns import readers, sheet_file, tables
from payments.domain.reconciliation.columns.examples import sample_of
from payments.domain.reconciliation.files import BadReport
from tests.reconciliation.columns.files import HEADER, READ, ROWS, changed, report, sheets, short

SHEET = "xl/worksheets/sheet1.xml"


def with_part(name: str, content: bytes) -> bytes:
    """Return an Xlsx file in which one part has another content."""
    out = BytesIO()
    with ZipFile(BytesIO(sheets(Lines=[HEADER, *ROWS]))) as old, ZipFile(out, "w", ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, content if part == name else old.read(part))
    return out.getvalue()


def part(name: str) -> str:
    with ZipFile(BytesIO(sheets(Lines=[HEADER, *ROWS]))) as file:
        return file.read(name).decode()


def test_a_sheet_that_says_it_has_one_cell_is_read_whole() -> None:
    raw = with_part(SHEET, part(SHEET).replace('ref="A1:E4"', 'ref="A1"').encode())
    assert short(readers.lines_of(raw, report())) == READ


def test_a_card_number_that_names_a_sheet_is_not_repeated() -> None:
    raw = sheets(**{"4242 4242 4242 4242": [HEADER, *ROWS]})
    assert sample_of(raw).sheets == ["[card …4242]"]
    with pytest.raises(BadReport, match=r"^\[card …4242\]$"):
        readers.lines_of(raw, report(changed(sheet="November")))


def test_an_entity_is_refused() -> None:
    hostile = part(SHEET).replace("<worksheet", '<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet', 1)
    with pytest.raises(BadReport, match="no Xlsx file that can be read"):
        readers.lines_of(with_part(SHEET, hostile.encode()), report())


def test_a_file_that_is_small_and_unpacks_to_much_is_refused() -> None:
    raw = with_part("xl/media", b"")
    out = BytesIO(raw)
    with ZipFile(out, "a", ZIP_DEFLATED) as file:
        file.writestr("xl/media/image1.png", bytes(sheet_file.MAX_UNPACKED_BYTES))
    assert len(out.getvalue()) < 1024**2
    with pytest.raises(BadReport, match="more than 200 MiB unpacked"):
        readers.lines_of(out.getvalue(), report())


@pytest.mark.long
def test_a_file_that_takes_more_memory_than_it_may_is_refused() -> None:
    row = f"<row>{'<c><v>1</v></c>' * 5_000_000}</row></sheetData>"
    hostile = part(SHEET).replace("</sheetData>", row)
    with pytest.raises(BadReport, match="takes too much time or memory"):
        readers.lines_of(with_part(SHEET, hostile.encode()), report())


def test_a_cell_far_out_costs_no_more_than_the_rows_that_are_allowed() -> None:
    far = part(SHEET).replace("</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>')
    with pytest.raises(BadReport, match=r"more than 200,000 rows"):
        readers.lines_of(with_part(SHEET, far.encode()), report())
    with pytest.raises(BadReport, match="50,000,000 characters"):
        readers.lines_of(sheets(Lines=[HEADER, ROWS[0], *[["x" * 30_000] * 60] * 30]), report())


def test_an_old_or_protected_spreadsheet_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadReport, match="save it as Xlsx without one, or as CSV"):
        readers.lines_of(tables.OLE + bytes(600), report())


@pytest.mark.long
def test_a_damaged_file_is_read_or_refused_in_words() -> None:
    raw, refused = sheets(Lines=[HEADER, *ROWS]), 0
    for seed in range(20):
        draw, damaged = Random(seed), bytearray(raw)
        for _ in range(draw.randint(1, 40)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            readers.lines_of(b"PK\x03\x04" + bytes(damaged[4 : draw.choice((None, len(raw) // 2))]), report())
        except BadReport:
            refused += 1
    assert refused > 10
