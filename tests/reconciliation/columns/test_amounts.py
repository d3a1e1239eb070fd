"""Amounts and times in the cells of files."""

from datetime import UTC, datetime

import pytest

from payments.domain.reconciliation.columns.amounts import DATES, Typed, read_amount, read_time


@pytest.mark.parametrize(
    ("text", "decimal", "amount"),
    [
        ("1,234.50", ".", 123450),
        ("1.234,50", ",", 123450),
        ("1 234,50", ",", 123450),
        ("1\u202f234,50", ",", 123450),
        ("1’234.50", ".", 123450),
        ("12,34,567.00", ".", 123456700),
        ("1.234,56-", ",", -123456),
        ("(12.00)", ".", -1200),
        ("\u221212.00", ".", -1200),
        ("- 12.00", ".", -1200),
        ("PHP 12", ".", 1200),
        ("12.00 PHP", ".", 1200),
        ("-₱12.00", ".", -1200),
        ("₱-12.00", ".", -1200),
        ("12.00DR", ".", -1200),
        ("12.00 Cr", ".", 1200),
        ("+.5", ".", 50),
        ("007.10", ".", 710),
        ("12.5000", ".", 1250),
    ],
)
def test_an_amount_is_read_as_it_is_written(text: str, decimal: str, amount: int) -> None:
    assert read_amount(text, "PHP", decimal) == amount


@pytest.mark.parametrize(
    "text",
    ["1,23.50", "1.234,50", "--5", "-5-", "(5", "(-5)", "€5", "5 DR-", "1.005", "", "-", "0,500", "1e3", "9" * 70],
)
def test_what_may_be_another_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be an amount of PHP"):
        read_amount(text, "PHP", ".")


def test_a_currency_without_decimals_has_none() -> None:
    assert read_amount("1,234", "JPY", ".") == 1234
    with pytest.raises(ValueError, match="0 decimals at most"):
        read_amount("1234.5", "JPY", ".")


def test_a_number_of_a_spreadsheet_has_a_point_whatever_the_layout_says() -> None:
    assert read_amount(Typed("-1234.5"), "PHP", ",") == -123450
    assert read_time(Typed("2026-11-30T00:00:00"), "%d/%m/%Y") == datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize("form", DATES)
def test_a_day_is_read_in_its_form_with_and_without_a_time(form: str) -> None:
    day = datetime(2026, 11, 30, tzinfo=UTC)
    written = DATES[form].partition(" or ")[0].split(", 2026-")[0]
    assert read_time(written, form) == day
    assert read_time(f"{written} 14:05", form) == day.replace(hour=14, minute=5)
    assert read_time(f"{written}T14:05:06", form) == day.replace(hour=14, minute=5, second=6)


def test_a_time_keeps_its_zone_and_half_of_the_day() -> None:
    assert read_time("Nov 30, 2026 2:05 PM", "%b %d, %Y") == datetime(2026, 11, 30, 14, 5, tzinfo=UTC)
    assert read_time("30/11/2026 22:05:00 +0800", "%d/%m/%Y") == datetime(2026, 11, 30, 14, 5, tzinfo=UTC)
    assert read_time("2026-11-30T22:05:00+08:00", "iso") == datetime(2026, 11, 30, 14, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["31/11/2026", "30.11.2026", "30/11/1926", "30/11/2026 25:00", "30/11/2026 x y", ""])
def test_what_is_no_day_of_the_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a time"):
        read_time(text, "%d/%m/%Y")
