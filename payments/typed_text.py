"""Readers of numbers and days as people type them, which take one form each and change no value."""

import re
from datetime import UTC, date, datetime

# Python's own readers take `1_000`, digits of other scripts, `2026-W10-3` and `2026-11-21-08:00` too.
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_ZONE = r"Z|[+\-][0-9]{2}:[0-9]{2}"
# A date, or a date and time, in ISO 8601's extended format.
MOMENT = f"{_DAY}(?:{_TIME}(?:{_ZONE})?)?"
# Every number of so many digits fits the database's integers.
MAX_DIGITS = 18
IS_NUMBER, IS_DAY, IS_MOMENT = re.compile(f"[0-9]{{1,{MAX_DIGITS}}}"), re.compile(_DAY), re.compile(MOMENT)


def read_whole_number(text: str) -> int:
    """Return the number that ASCII digits alone write; raise ValueError for any other text."""
    if not IS_NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a whole number in digits alone, such as 1250")
    return int(text)


def read_day(text: str) -> date:
    """Return the day that a text such as 2026-11-21 names; raise ValueError for any other text."""
    if not IS_DAY.fullmatch(text):
        raise ValueError(f"{text!r} is not a day such as 2026-11-21")
    return date.fromisoformat(text)


def read_moment(text: str) -> datetime:
    """Return the moment, in UTC, that a text like `MOMENT` names, which is of UTC without an offset.

    Raises ValueError for any other text, and OverflowError for a moment outside of the calendar.
    """
    if not IS_MOMENT.fullmatch(text):
        raise ValueError(f"{text!r} is not a time such as 2026-11-21T10:30Z")
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
