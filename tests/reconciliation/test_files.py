"""Reports as files: reading returns what was written, and a fault is reported by line and column."""

import csv
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.domain.reconciliation import files
from payments.domain.reconciliation.files import BadReport
from payments.providers.settlement_reports import Movement, SettlementLine
from tests.reconciliation.factories import SIMULATOR

HEADER = "reference,simulator_reference,type,amount,currency,booked_at"
GOOD = "0190a1fc472ce874b1b67520502f7850,sp_1,capture,100.00,PHP,2026-11-21T01:02:03.000004Z"

references = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=60).filter(
    lambda text: not text.startswith(("=", "+", "-", "@"))
)
settlement_lines = st.builds(
    lambda kind, amount, **members: SettlementLine(kind=kind, amount=kind.sign * amount, **members),
    reference=references.filter(bool),
    provider_ref=references,
    kind=st.sampled_from([kind for kind in Movement if kind.sign]),
    amount=st.integers(1, 99_999_999_999),
    currency=st.sampled_from(["PHP", "JPY", "KWD", "XAU"]),
    booked_at=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)


@given(st.lists(settlement_lines, unique=True))
def test_what_is_written_is_read_back(lines: list[SettlementLine]) -> None:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="", suffix=".csv") as file:
        assert files.write(lines, SIMULATOR, file) == len(lines)
        file.flush()
        assert files.read(Path(file.name), SIMULATOR) == lines


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
    assert files.read(path, SIMULATOR) == [read_good()]


def read_good() -> SettlementLine:
    with tempfile.TemporaryDirectory() as folder:
        return read(Path(folder), HEADER, GOOD)[0]


def read(folder: Path, *rows: str) -> list[SettlementLine]:
    path = folder / "report.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    return files.read(path, SIMULATOR)


BAD_CELLS = {
    "no amount": ("100.00", "", "line 3, column amount: must be an amount of PHP in digits, such as 18.50"),
    "words": ("100.00", "a hundred", "line 3, column amount: must be an amount of PHP in digits"),
    "thousands": ("100.00", '"1,000.00"', "line 3, column amount: must be an amount of PHP in digits"),
    "exponent": ("100.00", "1e3", "line 3, column amount: must be an amount of PHP in digits"),
    "nan": ("100.00", "NaN", "line 3, column amount: must be an amount of PHP in digits"),
    "formula": ("100.00", "=1+1", "line 3, column amount: must be an amount of PHP in digits"),
    "part of a cent": ("100.00", "1.001", "line 3, column amount: must be an amount of PHP above 0 with 2 decimals"),
    "nothing": ("100.00", "0.00", "line 3, column amount: must be an amount of PHP above 0"),
    "sign": ("100.00", "-1.00", "line 3, column amount: has the wrong sign for a capture"),
    "unknown kind": ("capture", "chargeback", "line 3, column type: must be one of capture, void, refund"),
    "currency": ("PHP", "php", "line 3, column currency: must be a currency by ISO 4217"),
    "time": ("2026-11-21T01:02:03.000004Z", "21 Nov", "line 3, column booked_at: must be a time such as 2026-11-21T"),
    "formula in a reference": ("sp_1", "=cmd|x", "line 3, column simulator_reference: must be a reference; this is a"),
    "control": ("sp_1", "sp\x00", "line 3, column simulator_reference: must be up to 255 printable characters"),
    "long": ("sp_1", "s" * 256, "line 3, column simulator_reference: must be up to 255 printable characters"),
    "no name": (GOOD[:37], ",", "line 3: it must name the payment or operation"),
    "cut off": (",2026-11-21T01:02:03.000004Z", "", "line 3: 6 columns are needed, here are 5"),
    "quote": ("sp_1", '"sp_1" "', "line 3: "),
}


@pytest.mark.parametrize(("good", "bad", "message"), BAD_CELLS.values(), ids=BAD_CELLS.keys())
def test_a_bad_cell_is_refused_by_line_and_column(good: str, bad: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadReport) as refusal:
        read(tmp_path, HEADER, GOOD, GOOD.replace(good, bad, 1))
    assert str(refusal.value).startswith(message)


def test_a_refusal_does_not_repeat_the_cell(tmp_path: Path) -> None:
    for place in range(6):
        cells = GOOD.split(",")
        cells[place] = "=4242424242424242"
        with pytest.raises(BadReport) as refusal:
            read(tmp_path, HEADER, ",".join(cells))
        assert "4242" not in str(refusal.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "line 1, column reference: must be there, once"),
        ([HEADER.replace("amount", "sum"), GOOD], "line 1, column amount: must be there, once"),
        ([HEADER + ",type", GOOD + ",x"], "line 1, column type: must be there, once"),
        ([HEADER, GOOD, "", GOOD], "line 4: this repeats line 2"),
    ],
    ids=["empty", "missing", "twice", "line twice"],
)
def test_a_bad_table_is_refused(rows: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadReport, match=f"^{message}$"):
        read(tmp_path, *rows)


def test_another_encoding_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_bytes(f"{HEADER}\n{GOOD}\n".encode() + "Peñafrancia".encode("latin-1"))
    with pytest.raises(BadReport, match=r"^line 3: it is not UTF-8$"):
        files.read(path, SIMULATOR)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    with path.open("wb") as file:
        file.truncate(files.MAX_BYTES + 1)
    with pytest.raises(BadReport, match="larger than 64 MiB"):
        files.read(path, SIMULATOR)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadReport, match="No such file"):
        files.read(tmp_path / "nothing.csv", SIMULATOR)
