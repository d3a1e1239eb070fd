import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.rendering.csv import csv_line, csv_lines


def cell(value: object) -> str:
    """Return the text of the one cell as a reader of the file sees it."""
    [[read]] = csv.reader(StringIO(csv_line([value]).decode(), newline=""))
    return read


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "  ="])
def test_text_that_a_spreadsheet_would_run_is_text(start: str) -> None:
    assert cell(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (";=1+1", ";'=1+1"),
        ("5\t=1+1", "5\t'=1+1"),
        ("5\n+1", "5\n'+1"),
        ("5\r\n@A1", "5\r\n'@A1"),
        ("5; -1", "5;' -1"),
        ('5;"=1', "5;'\"=1"),
        ("5;;=1", "5;;'=1"),
        ("5;", "5;'"),
    ],
)
def test_text_that_would_be_a_formula_behind_a_separator_is_text(text: str, kept: str) -> None:
    assert cell(text) == kept


@given(st.lists(st.lists(st.text(";,\t\r\n\"=+-@' a"), min_size=1, max_size=3), min_size=1, max_size=3))
def test_no_cell_is_a_formula_whatever_separates_cells(rows: list[list[str]]) -> None:
    text = b"".join(map(csv_line, rows)).decode()
    for separator in ",;\t":
        opened = csv.reader(StringIO(text, newline=""), delimiter=separator)
        assert [
            found for row in opened for found in row if found.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))
        ] == []


@pytest.mark.parametrize(
    "text", ["Halo-halo", "a=b", "juan@example.com", 'He said "5", then\r\n6', "", "₱ 5", "5; 6, -7"]
)
def test_other_text_is_as_it_was(text: str) -> None:
    assert cell(text) == text


def test_a_number_stays_one_also_below_nothing() -> None:
    assert csv_line([-500, None]) == b'-500,""\r\n'


def test_a_file_has_its_heads_first_and_says_that_it_is_utf8() -> None:
    assert list(csv_lines(["a", "ñ"], [["b", 1]])) == ['\ufeff"a","ñ"\r\n'.encode(), b'"b",1\r\n']
