"""Reports as files: reading returns what was written, and a fault is reported by line and column."""

import csv
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.domain.reconciliation import files
from payments.domain.reconciliation.files import BadReport
from payments.providers.settlement_reports import Movement, SettlementLine
from tests.reconciliation.factories import SIMULATOR, lines_in

HEADER = "reference,simulator_reference,type,amount,currency,booked_at"
GOOD = "0190a1fc472ce874b1b67520502f7850,sp_1,capture,100.00,PHP,2026-11-21T01:02:03.000004Z"

references = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufffd"), max_size=60
)
settlement_lines = st.builds(
    lambda kind, amount, **members: SettlementLine(kind=kind, amount=kind.sign * amount, **members),
    reference=references.filter(bool),
    provider_ref=references,
    kind=st.sampled_from([kind for kind in Movement if kind.sign]),
    amount=st.integers(1, 99_999_999_999),
    currency=st.sampled_from(["PHP", "JPY", "KWD", "XAU"]),
    booked_at=st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
)


@pytest.mark.long
@given(st.lists(settlement_lines))
def test_what_is_written_is_read_back(lines: list[SettlementLine]) -> None:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="", suffix=".csv") as file:
        assert files.write(lines, SIMULATOR, file) == len(lines)
        file.flush()
        assert lines_in(Path(file.name)) == lines


@pytest.mark.parametrize(
    ("currency", "text", "amount"),
    [("PHP", "18.89", 1889), ("PHP", "18.9", 1890), ("JPY", "18", 18), ("KWD", "1.234", 1234), ("PHP", "+5", 500)],
)
def test_an_amount_is_read_by_its_currency(currency: str, text: str, amount: int, tmp_path: Path) -> None:
    row = GOOD.replace("100.00,PHP", f"{text},{currency}")
    assert read(tmp_path, HEADER, row)[0].amount == amount


def test_extra_columns_another_order_and_a_byte_order_mark_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        out = csv.writer(file)
        out.writerow([*reversed(HEADER.split(",")), "payer"])
        out.writerow([*reversed(GOOD.split(",")), "=Juan"])
    assert lines_in(path) == [read_good()]


def read_good() -> SettlementLine:
    with tempfile.TemporaryDirectory() as folder:
        return read(Path(folder), HEADER, GOOD)[0]


def read(folder: Path, *rows: str) -> list[SettlementLine]:
    path = folder / "report.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    return lines_in(path)


BAD_CELLS = {
    "no amount": ("100.00", "", "column amount: must be an amount of PHP in digits, such as 18.50"),
    "words": ("100.00", "a hundred", "column amount: must be an amount of PHP in digits"),
    "thousands": ("100.00", '"1,000.00"', "column amount: must be an amount of PHP in digits"),
    "decimal comma": ("100.00", '"100,00"', "column amount: must be an amount of PHP in digits"),
    "exponent": ("100.00", "1e3", "column amount: must be an amount of PHP in digits"),
    "nan": ("100.00", "NaN", "column amount: must be an amount of PHP in digits"),
    "formula": ("100.00", "=1+1", "column amount: must be an amount of PHP in digits"),
    "other digits": ("100.00", "١٠٠", "column amount: must be an amount of PHP in digits"),
    "part of a cent": ("100.00", "1.001", "column amount: must be an amount of PHP with 2 decimals"),
    "sign": ("100.00", "-1.00", "column amount: has the wrong sign for a capture"),
    "unknown kind": ("capture", "chargeback", "column type: must be one of capture, void, refund"),
    "currency": ("PHP", "php", "column currency: must be a currency by ISO 4217"),
    "time": ("2026-11-21T01:02:03.000004Z", "21 Nov", "column booked_at: must be a time such as 2026-11-21T"),
    "first year": ("2026-11-21", "0001-01-01", "column booked_at: must be a time of the years 2000 to 2099"),
    "last year": ("2026-11-21", "9999-12-31", "column booked_at: must be a time of the years 2000 to 2099"),
    "control": ("sp_1", "sp\x01", "column simulator_reference: must be up to 255 printable characters"),
    "long": ("sp_1", "s" * 256, "column simulator_reference: must be up to 255 printable characters"),
    "not UTF-8": ("sp_1", "sp_\ufffd", "column simulator_reference: must be up to 255 printable characters in UTF-8"),
    "no name": (GOOD[:37], ",", "it must name the payment or operation"),
    "cut off": (",2026-11-21T01:02:03.000004Z", "", "6 columns are needed, here are 5"),
    "too long": ("Z", "Z,,x", "6 columns are needed, here are 8"),
    "quote": ("sp_1", '"sp_1" "', "its quotes are not those of a CSV file"),
}


@pytest.mark.parametrize(("good", "bad", "reason"), BAD_CELLS.values(), ids=BAD_CELLS.keys())
def test_a_row_that_cannot_be_read_is_a_line_with_the_reason(good: str, bad: str, reason: str, tmp_path: Path) -> None:
    before, unread, after = read(tmp_path, HEADER, GOOD, GOOD.replace(good, bad, 1), GOOD.replace("sp_1", "sp_2"))
    assert (before.provider_ref, after.provider_ref) == ("sp_1", "sp_2")
    assert (unread.kind, unread.amount, unread.booked_at, unread.row) == (Movement.UNREAD, 0, None, 3)
    assert unread.word.startswith(reason)


@pytest.mark.parametrize(("good", "bad", "reason"), BAD_CELLS.values(), ids=BAD_CELLS.keys())
def test_a_report_of_which_no_row_can_be_read_is_refused_by_line_and_column(
    good: str, bad: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(BadReport, match=rf"^line 2(, |: ){reason}"):
        read(tmp_path, HEADER, GOOD.replace(good, bad, 1))


def test_a_row_that_cannot_be_read_keeps_its_names(tmp_path: Path) -> None:
    _, unread = read(tmp_path, HEADER, GOOD, GOOD.replace("100.00", "much"))
    assert (unread.reference, unread.provider_ref) == (GOOD[:32], "sp_1")


def test_a_reason_does_not_repeat_the_cell(tmp_path: Path) -> None:
    for place in range(2, 6):
        cells = GOOD.split(",")
        cells[place] = "=4242424242424242"
        _, unread = read(tmp_path, HEADER, GOOD, ",".join(cells))
        assert unread.kind is Movement.UNREAD
        assert "4242" not in unread.word


def test_more_rows_that_cannot_be_read_than_operators_could_look_at_refuse_the_report(tmp_path: Path) -> None:
    unread = [GOOD.replace("100.00", "much")] * files.MOST_UNREAD
    assert len(read(tmp_path, HEADER, GOOD, *unread)) == 1 + files.MOST_UNREAD
    with pytest.raises(BadReport, match=r"^line 3, column amount: .*; 1,000 more rows cannot be read$"):
        read(tmp_path, HEADER, GOOD, *unread, unread[0])


@pytest.mark.parametrize("amount", ["0", "0.00", "+0", "000.0"])
def test_a_row_that_moves_nothing_is_left_out(amount: str, tmp_path: Path) -> None:
    assert read(tmp_path, HEADER, GOOD, GOOD.replace("100.00", amount)) == [read_good()]


@pytest.mark.parametrize("reference", ["=cmd|x", "@sari", "+63 917", "-", "Peña 日本", "a\u200bb", " "])
def test_a_reference_is_anybodys_text(reference: str, tmp_path: Path) -> None:
    [line] = read(tmp_path, HEADER, GOOD.replace("sp_1", reference))
    assert line.provider_ref == reference


LAYOUTS = {
    "semicolons": "\n".join([HEADER, GOOD]).replace(",", ";"),
    "tabs": "\n".join([HEADER, GOOD]).replace(",", "\t"),
    "quoted semicolons": "\n".join('"' + row.replace(",", '";"') + '"' for row in (HEADER, GOOD)),
    "empty lines first": f"\n\r\n{HEADER}\n{GOOD}",
    "what separates, first": f"sep=;\n{HEADER}\n{GOOD}".replace(",", ";"),
    "a title first": f"Settlement report, 21 November\n\n{HEADER}\n{GOOD}",
    "rows of empty cells": f",,,,,\n{HEADER}\n,,,,,\n{GOOD}\n,,,,,\n",
    "empty cells after each row": f"{HEADER},,\n{GOOD},,\n",
    "empty cells after a row": f"{HEADER}\n{GOOD},,\n",
    "carriage returns alone": f"{HEADER}\r{GOOD}\r",
    "both line ends": f"{HEADER}\r\n{GOOD}\r\n",
    "a line break within a cell": f'{HEADER},note\n{GOOD},"one\ntwo"\n',
    "other bytes in a column that is not read": f"{HEADER},name\n{GOOD},Pe\udcf1a\n",
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_what_spreadsheets_change_is_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert lines_in(path) == [read_good()]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "line 1, column reference: must be there, once"),
        ([HEADER.replace("amount", "sum"), GOOD], "line 1, column amount: must be there, once"),
        (["", HEADER.replace("amount", "sum"), GOOD], "line 2, column amount: must be there, once"),
        (["A title", HEADER.replace("amount", "sum"), GOOD], "line 2, column amount: must be there, once"),
        ([HEADER + ",type", GOOD + ",x"], "line 1, column type: must be there, once"),
        ([HEADER.replace(",", "|")], "line 1, column reference: must be there, once"),
        ([HEADER, GOOD, '"' + GOOD, GOOD, GOOD], "line 3: a quote is not closed, so its end is not known"),
    ],
    ids=["empty", "missing", "missing below", "missing below a title", "twice", "bars", "quote"],
)
def test_a_bad_table_is_refused(rows: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadReport, match=f"^{re.escape(message)}$"):
        read(tmp_path, *rows)


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_text(f"{HEADER}\n{GOOD}\n", encoding="utf-16")
    with pytest.raises(BadReport, match=r"^it is no text in UTF-8"):
        lines_in(path)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    with path.open("wb") as file:
        file.truncate(files.MAX_BYTES + 1)
    with pytest.raises(BadReport, match="larger than 64 MiB"):
        lines_in(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadReport, match="No such file"):
        lines_in(tmp_path / "nothing.csv")
