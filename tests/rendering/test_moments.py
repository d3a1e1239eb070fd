"""Moments as the API writes them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from payments.clock import iso

MANILA = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2026, 11, 21, 1, 43, 0, 123456, UTC), "2026-11-21T01:43:00.123456Z"),
        (datetime(2026, 11, 21, 1, 43, 0, 120000, UTC), "2026-11-21T01:43:00.120000Z"),
        (datetime(2026, 11, 21, 1, 43, 0, 1, UTC), "2026-11-21T01:43:00.000001Z"),
        (datetime(2026, 11, 21, 1, 43, 0, 0, UTC), "2026-11-21T01:43:00.000000Z"),
        (datetime(2026, 11, 21, 1, 43, 0, 0, MANILA), "2026-11-20T17:43:00.000000Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_a_moment_is_written_with_six_digits_and_in_utc(moment: datetime, written: str) -> None:
    assert iso(moment) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-11-21 01:43:00.123456+00", "2026-11-21T01:43:00.123456Z"),
        ("2026-11-21 01:43:00.12+00", "2026-11-21T01:43:00.120000Z"),
        ("2026-11-21 01:43:00+00", "2026-11-21T01:43:00.000000Z"),
        ("2026-11-21 09:43:00.5+08", "2026-11-21T01:43:00.500000Z"),
        ("2026-11-21T01:43:00.12+00:00", "2026-11-21T01:43:00.120000Z"),
        ("2026-11-21T01:43:00+00:00", "2026-11-21T01:43:00.000000Z"),
    ],
)
def test_a_text_of_postgresql_is_written_as_its_moment(text: str, written: str) -> None:
    assert iso(text) == iso(datetime.fromisoformat(text)) == written
